package io.holdfast.lock.fencing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a hold that is bound to no thread, with which a transaction passes inside
 * another one that has passed with the same hold, so it has no row of its own.
 */
class FencedInnerGuardTests {

	private static final TestHold HOLD = TestHold.of("42", 10, "a");

	private static final TestHold LATER = TestHold.of("42", 20, "b");

	private final DataSource dataSource = new DriverManagerDataSource(
			"jdbc:h2:mem:inner-guard;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private final TransactionFence fence = TestFence.of(this.dataSource);

	private final TransactionTemplate transaction = new TransactionTemplate(
			TestFence.manager(this.dataSource, this.fence));

	private final AtomicReference<Runnable> unbind = new AtomicReference<>(() -> {
	});

	@BeforeEach
	void requireNew() {
		TestFence.clear(this.dataSource);
		this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
	}

	@AfterEach
	void unbind() {
		this.unbind.get().run();
		assertThat(PassedHolds.isEmpty()).isTrue();
	}

	private void inInner(Runnable action) {
		this.transaction.executeWithoutResult((outer) -> {
			this.fence.advance(HOLD);
			this.transaction.executeWithoutResult((inner) -> {
				this.fence.advance(HOLD);
				action.run();
				this.jdbc.update("INSERT INTO fence VALUES ('work', 'work', 1, 'a')");
			});
			outer.setRollbackOnly();
		});
	}

	private boolean hasWritten() {
		return !this.jdbc.queryForList("SELECT 1 FROM fence WHERE lock_id = 'work'").isEmpty();
	}

	@Test
	void laterHoldOfTheSameLockCommits() {
		inInner(() -> this.fence.advance(LATER));
		assertThat(hasWritten()).isTrue();
	}

	@Test
	void laterHoldThatPassesAtTheCommitCommits() {
		inInner(() -> this.unbind.set(LockContext.bind(LATER)));
		assertThat(hasWritten()).isTrue();
	}

	/** A deadlock has rolled the outer one back, which continues without its rows. */
	@Test
	void staleHolderIsRefusedThoughTheOuterOneIsAskedForAnother() {
		TransactionTemplate withoutListener = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource),
				this.transaction);
		this.unbind.set(LockContext.bind(TestHold.of("43", 10, "a")));
		this.transaction.executeWithoutResult((outer) -> {
			outer.setRollbackOnly();
			this.fence.advance(HOLD);
			this.jdbc.execute("ROLLBACK");
			CompletableFuture
				.runAsync(() -> this.transaction
					.executeWithoutResult((successor) -> this.fence.advance(TestHold.of("43", 20, "b"))))
				.join();
			withoutListener.executeWithoutResult((inner) -> {
				inner.setRollbackOnly();
				this.fence.advance(HOLD);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> this.fence.beforeBody(null));
			});
		});
	}

}
