package io.holdfast.lock.fencing;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for a fence at which something else than a {@code RuntimeException} is thrown, as
 * at the end of the stack, or by a driver that is not written in Java.
 */
class ErrorAtTheFenceTests {

	private final DriverManagerDataSource dataSource = new DriverManagerDataSource(
			"jdbc:h2:mem:fence-error;DB_CLOSE_DELAY=-1");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private Supplier<? extends Throwable> failure = () -> null;

	private final TransactionFence fence = new TransactionFence(
			new JdbcFencingGuard(this.dataSource, "fence", (hold) -> {
				Throwable thrown = this.failure.get();
				if (thrown != null) {
					ErrorAtTheFenceTests.<RuntimeException>sneakyThrow(thrown);
				}
				return hold.lock().toString();
			}), this.dataSource, Object::toString, (method, type) -> null, this::isOwn, (refusal) -> {
			});

	private final TransactionTemplate transaction = new TransactionTemplate(
			TestFence.manager(this.dataSource, this.fence));

	private Runnable unbind = () -> {
	};

	private boolean failsEarlier;

	private boolean isOwn(LockHandle hold) {
		if (this.failsEarlier) {
			throw new IllegalStateException("the context is closing");
		}
		return true;
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void sneakyThrow(Throwable thrown) throws T {
		throw (T) thrown;
	}

	@BeforeEach
	void hold() {
		TestFence.clear(this.dataSource);
		this.unbind = LockContext.bind(TestHold.of("42", 10, "a"));
	}

	@AfterEach
	void unbind() {
		this.unbind.run();
		assertThat(TransactionSynchronizationManager.getResourceMap()).as("the connection is returned").isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	private void write() {
		this.jdbc.update("INSERT INTO fence VALUES ('work', 'work', 1, 'a')");
	}

	private List<String> written() {
		return this.jdbc.queryForList("SELECT lock_id FROM fence", String.class);
	}

	@Test
	void errorWhenTheTransactionBeginsRollsItBack() {
		this.failure = StackOverflowError::new;
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.failure = () -> null;
				write();
			}));
		assertThat(written()).isEmpty();
	}

	/** What the body has read is not fenced, though the commit would pass. */
	@Test
	void failureBeforeTheFenceIsReachedRollsBack() {
		AtomicInteger begun = new AtomicInteger();
		((AbstractPlatformTransactionManager) this.transaction.getTransactionManager())
			.setTransactionExecutionListeners(List.of(new FenceListener(() -> {
				// not before the begin, which would fail
				this.failsEarlier = begun.incrementAndGet() == 2;
				return this.fence;
			})));
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			this.failsEarlier = false;
			write();
		})).withMessage("the context is closing");
		assertThat(written()).isEmpty();
	}

	@Test
	void errorBeforeTheCommitRollsItBack() {
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				write();
				this.failure = StackOverflowError::new;
			}));
		assertThat(written()).isEmpty();
	}

	@Test
	void checkedExceptionWhenTheTransactionBeginsRollsItBack() {
		this.failure = () -> new IOException("of a driver");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.failure = () -> null;
				write();
			}))
			.withMessageContaining("of a driver")
			.withCauseInstanceOf(IOException.class);
		assertThat(written()).isEmpty();
	}

	@Test
	void checkedExceptionBeforeTheCommitRollsItBack() {
		Throwable thrown = catchThrowable(() -> this.transaction.executeWithoutResult((status) -> {
			write();
			this.failure = () -> new IOException("of a driver");
		}));
		assertThat(written()).isEmpty();
		assertThat(thrown).isInstanceOf(IllegalStateException.class).hasCauseInstanceOf(IOException.class);
	}

}
