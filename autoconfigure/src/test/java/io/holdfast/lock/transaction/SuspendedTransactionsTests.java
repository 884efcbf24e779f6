package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.SimpleTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a call outside the transactions of several managers.
 */
class SuspendedTransactionsTests {

	private final List<String> resumed = new ArrayList<>();

	private final PlatformTransactionManager first = new Manager("first");

	private final PlatformTransactionManager second = new Manager("second");

	@Test
	void transactionsAreResumedAlthoughACallbackThrowsAnError() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> SuspendedTransactions.outside(Stream.of(this.first, this.second), () -> "done"))
			.withMessage("second")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(this.resumed).containsExactly("second", "first");
	}

	@Test
	void errorOfACallbackDoesNotReplaceTheExceptionOfTheCall() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> SuspendedTransactions.outside(Stream.of(this.first, this.second), () -> {
				throw new IllegalStateException("of the call");
			}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(this.resumed).containsExactly("second", "first");
	}

	/** Has callbacks that throw. */
	private final class Manager implements PlatformTransactionManager {

		private final String name;

		Manager(String name) {
			this.name = name;
		}

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
			SuspendedTransactionsTests.this.resumed.add(this.name);
			throw new AssertionError(this.name);
		}

		@Override
		public void rollback(TransactionStatus status) {
			commit(status);
		}

	}

}
