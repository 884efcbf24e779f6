package io.holdfast.lock.transaction;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.transaction.ArticleApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a lock is refused in a caller's transaction that has read entities before
 * the lock.
 */
class CallersPersistenceContextTests {

	@Test
	void callersTransactionThatHasReadIsRefusedWithTheRemedy() {
		run((application) -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> application.caller().readAndCall(application.stock()::sell))
			.withMessageContaining("Lock 'stock' was not acquired")
			.withMessageContaining("1 entity of [" + Article.class.getName() + "]")
			.withMessageContaining("read or written before the lock")
			.withMessageContaining("before the transaction starts")
			.withMessageContaining("flush and clear"));
	}

	@Test
	void callersTransactionOfTheRequestThatHasReadIsRefused() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> application.caller().call(application.stock()::sell))
				.withMessageContaining("read or written before the lock");
		}));
	}

	@Test
	void callersTransactionThatHasClearedItsContextKeepsTheLock() {
		run((application) -> {
			application.caller().readAndCall(() -> {
				application.entities().flush();
				application.entities().clear();
				application.changeElsewhere();
				application.stock().sell();
			});
			assertThat(application.stock().amount()).isEqualTo(98);
		});
	}

	@Test
	void callersReadsDoNotAffectAMethodWithItsOwnTransaction() {
		run((application) -> {
			application.caller().readAndCall(() -> {
				Article seen = application.find();
				application.stock().sellInNew();
				assertThat(application.find()).isSameAs(seen);
			});
			application.inOpenView(() -> {
				application.find();
				application.caller().call(application.stock()::sellInNew);
			});
			assertThat(application.stock().amount()).isEqualTo(98);
		});
	}

	@Test
	void uninitializedReferenceDoesNotCountAsRead() {
		run((application) -> {
			application.caller().call(() -> {
				Article reference = application.entities().getReference(Article.class, 1L);
				assertThat(reference).isNotNull();
				application.stock().sell();
			});
			assertThat(application.stock().amount()).isEqualTo(99);
		});
	}

	@Test
	void callerUnderTheSameLockIsNotRefused() {
		run((application) -> {
			application.locks().execute(LockRequest.of("stock"), (handle) -> {
				application.caller().readAndCall(application.stock()::sell);
				return null;
			});
			assertThat(application.stock().amount()).isEqualTo(99);
		});
	}

	@Test
	void callerThatHasReadWhereTransactionsAreSupportedIsRefused() {
		run((application) -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> application.caller().readAndCallIfSupported(application.stock()::sell))
			.withMessageContaining("read or written before the lock"));
	}

}
