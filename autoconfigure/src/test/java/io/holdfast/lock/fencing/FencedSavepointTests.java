package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for transactions inside one that has passed the fence of a lock with several
 * holds, and in which a statement has failed. PostgreSQL then no longer says whether it
 * keeps the row, as it does from before a savepoint. To wait for a row that another
 * transaction of the thread keeps would never end.
 */
class FencedSavepointTests {

	@AutoClose
	private static final PostgresServer server = PostgresServer.started();

	private final DataSource dataSource = new DriverManagerDataSource(
			server.jdbcUrl() + "&options=-c%20lock_timeout=3s");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private final TransactionFence fence = TestFence.of(this.dataSource);

	private final PlatformTransactionManager manager = TestFence.manager(this.dataSource, this.fence);

	private final TransactionTemplate outer = template(TransactionDefinition.PROPAGATION_REQUIRED);

	private final TransactionTemplate nested = template(TransactionDefinition.PROPAGATION_NESTED);

	private final TransactionTemplate inner = template(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private TransactionTemplate template(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.manager);
		template.setPropagationBehavior(propagation);
		return template;
	}

	@BeforeEach
	void clear() {
		TestFence.clear(this.dataSource);
	}

	@AfterEach
	void requireNothingLeft() {
		assertThat(PassedHolds.isEmpty()).isTrue();
	}

	private void holding(String key, long token, Runnable action) {
		Runnable unbind = LockContext.bind(TestHold.of(key, token, "a" + token));
		try {
			this.fence.beforeBody(null);
			action.run();
		}
		finally {
			unbind.run();
		}
	}

	private void holding(TestHold hold) {
		Runnable unbind = LockContext.bind(hold);
		try {
			this.fence.beforeBody(null);
		}
		finally {
			unbind.run();
		}
	}

	private void fail() {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.jdbc.execute("SELECT 1 / 0"));
	}

	/** As an application that records each failure, whatever happens to its work. */
	private void failAndRecord() {
		fail();
		this.inner.executeWithoutResult(
				(failure) -> this.jdbc.update("INSERT INTO fence VALUES ('failure', 'failure', 1, 'a')"));
	}

	private void requireRefused() {
		requireRefused(() -> {
		});
	}

	private void requireRefused(Runnable action) {
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> this.inner.executeWithoutResult((failure) -> action.run()))
			.withMessageContainingAll("Lock 'stock:42'", "savepoint");
	}

	/** As with {@code when-active=allow}. */
	@Test
	void rowOfAnEarlierHoldFromBeforeTheSavepointIsNotAwaited() {
		this.outer.executeWithoutResult((status) -> {
			holding("42", 10, () -> {
			});
			this.nested.executeWithoutResult((savepoint) -> {
				savepoint.setRollbackOnly();
				holding("42", 11, () -> {
					fail();
					requireRefused();
				});
			});
		});
	}

	/** An inner transaction has asked whether the row is kept, which locks it again. */
	@Test
	void rowThatWasLockedAgainBeforeTheSavepointIsNotAwaited() {
		this.outer.executeWithoutResult((status) -> {
			status.setRollbackOnly();
			holding("41", 10, () -> {
			});
			Runnable unbind = LockContext.bind(TestHold.of("42", 10, "a"));
			this.nested.executeWithoutResult(TransactionExecution::setRollbackOnly);
			this.inner.executeWithoutResult((first) -> {
			});
			Object savepoint = status.createSavepoint();
			this.fence.beforeBody(null);
			fail();
			requireRefused();
			status.rollbackToSavepoint(savepoint);
			unbind.run();
		});
	}

	@Test
	void rowOfAnotherLockFromBeforeTheSavepointIsNotInDoubt() {
		this.outer.executeWithoutResult((status) -> {
			holding("41", 10, () -> {
			});
			this.nested.executeWithoutResult((savepoint) -> {
				savepoint.setRollbackOnly();
				holding("42", 10, this::failAndRecord);
			});
		});
		assertThat(this.jdbc.queryForList("SELECT lock_id FROM fence", String.class)).contains("failure");
	}

	/** The pass that the first savepoint has undone keeps no row. */
	@Test
	void rowThatASavepointHasUndoneIsNotInDoubt() {
		this.outer.executeWithoutResult((status) -> {
			this.nested.executeWithoutResult((undone) -> {
				undone.setRollbackOnly();
				holding("42", 10, () -> {
				});
			});
			this.nested.executeWithoutResult((again) -> {
				again.setRollbackOnly();
				holding("42", 10, this::failAndRecord);
			});
		});
		assertThat(this.jdbc.queryForList("SELECT lock_id FROM fence", String.class)).contains("failure");
	}

	/** The first one has lost its row, which the second one keeps since then. */
	@Test
	void rowOfTheSecondTransactionIsNotAwaitedByTheThird() {
		this.outer.executeWithoutResult((first) -> {
			first.setRollbackOnly();
			holding("42", 10, this::fail);
			this.inner.executeWithoutResult((second) -> {
				holding("42", 11, () -> {
				});
				this.inner.executeWithoutResult((third) -> holding("42", 20, () -> {
				}));
			});
		});
		assertThat(this.jdbc.queryForObject("SELECT token FROM fence", Long.class)).isEqualTo(20);
	}

	/**
	 * The second one has asked the first one, which then fails because it is asked for a
	 * row that it has lost to another owner.
	 */
	@Test
	void rowThatTheSecondTransactionHasAskedForIsNotAwaitedByTheThird() throws SQLException {
		TestHold lost = TestHold.of("41", 10, "a");
		try (Connection other = this.dataSource.getConnection()) {
			other.setAutoCommit(false);
			this.outer.executeWithoutResult((first) -> {
				this.jdbc.execute("SET LOCAL lock_timeout = '100ms'");
				this.nested.executeWithoutResult((undone) -> {
					undone.setRollbackOnly();
					holding(lost);
				});
				holding(TestHold.of("42", 10, "a10"));
				this.nested.executeWithoutResult((savepoint) -> {
					savepoint.setRollbackOnly();
					this.inner.executeWithoutResult((second) -> {
						second.setRollbackOnly();
						holding(TestHold.of("42", 11, "a11"));
						this.fence.guard().on(other).advance(TestHold.of("41", 20, "b"));
						assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(() -> holding(lost));
						requireRefused(() -> holding(TestHold.of("42", 12, "a12")));
					});
				});
			});
		}
	}

}
