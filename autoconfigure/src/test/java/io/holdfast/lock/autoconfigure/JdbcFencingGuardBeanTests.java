package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.FencedApplication;
import io.holdfast.lock.fencing.FencingGuard;
import io.holdfast.lock.fencing.JdbcFencingGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the {@link JdbcFencingGuard} bean, which fences transactions that Spring does
 * not manage.
 */
class JdbcFencingGuardBeanTests {

	private final ApplicationContextRunner runner = FencedApplication.runner();

	@Test
	void ownConnectionIsFencedByTheTableOfTheApplication() {
		this.runner.run((context) -> {
			DataSource dataSource = context.getBean(DataSource.class);
			JdbcFencingGuard guard = context.getBean(JdbcFencingGuard.class);
			try (LockHandle hold = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				advance(guard, dataSource, hold);
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				assertThat(jdbc.queryForObject("SELECT token FROM holdfast_fence", Long.class))
					.isEqualTo(hold.fencingToken().value());
				jdbc.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> advance(guard, dataSource, hold));
			}
		});
	}

	private static void advance(JdbcFencingGuard guard, DataSource dataSource, LockHandle hold) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			guard.on(connection).advance(hold);
			connection.commit();
		}
	}

	@Test
	void injectedGuardRemainsThatOfTheTransaction() {
		this.runner.run(
				(context) -> assertThat(context.getBean(FencingGuard.class)).isSameAs(context.getBean("fencingGuard")));
	}

	@Test
	void guardWithoutAFenceStopsItsUser() {
		this.runner.withPropertyValues("distributed-lock.fencing.enabled=false").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(JdbcFencingGuard.class))
				.withStackTraceContaining("A JdbcFencingGuard cannot be injected, because fencing is off: ");
		});
	}

	@Test
	void guardOfAnOwnFenceStopsItsUser() {
		this.runner.withBean(Fence.class, OwnFence::new).run((context) -> {
			assertThat(context).hasNotFailed();
			String reason = "because the Fence is a bean of the application (" + OwnFence.class.getName() + ")";
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(JdbcFencingGuard.class))
				.withStackTraceContaining("A JdbcFencingGuard cannot be injected, " + reason);
			try (LockHandle hold = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> context.getBean(FencingGuard.class).advance(hold))
					.withMessageContaining("Lock 'stock:42' cannot be fenced, " + reason);
			}
		});
	}

	/** A fence of the application. */
	private static final class OwnFence implements Fence {

		@Override
		public void beforeBody(@Nullable String requiredBy) {
			// admits every holder
		}

		@Override
		public @Nullable String unfencedReason() {
			return null;
		}

	}

}
