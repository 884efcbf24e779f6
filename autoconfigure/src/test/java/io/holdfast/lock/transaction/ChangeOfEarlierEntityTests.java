package io.holdfast.lock.transaction;

import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.transaction.ArticleApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a change under the lock of an entity read before it is refused, because it
 * would not be written.
 */
class ChangeOfEarlierEntityTests {

	@Test
	void changeUnderTheLockOfAnEarlierEntityIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock().changeInTransaction(seen::sell), "Article (amount)")
				.withMessageContaining("The commit was refused and the transaction is rolled back");
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void changeWithoutATransactionIsRefusedAtTheEndOfTheCall() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock().change(seen::sell), "Article (amount)")
				.withMessageNotContaining("commit was refused");
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void changeUnderOneOfSeveralLocksIsRefusedAtTheCommit() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			LockRequest both = LockRequest.forLocks(List.of(LockName.of("stock"), LockName.of("till"))).build();
			try (LockHandle handle = application.locks().acquire(both)) {
				assertThat(handle.parts()).hasSize(2);
				assertRefused(() -> application.transactions().executeWithoutResult((status) -> seen.sell()),
						"Article (amount)");
			}
		}));
	}

	@Test
	void changeFromBeforeTheLockIsNotCountedAndAFurtherOneIs() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			seen.sell();
			seen.tags.add("sold");
			application.stock().changeInTransaction(seen.tags::size);
			application.stock().change(seen.tags::size);
			assertRefused(() -> application.stock().changeInTransaction(seen::sell), "Article (amount)");
		}));
	}

	@Test
	void changeOfACollectionIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock().changeInTransaction(() -> seen.tags.add("sold")), "Article.tags");
		}));
	}

	@Test
	void changeOfAnEntityLoadedByAnEarlierReferenceIsRefused() {
		run((application) -> application.inOpenView(() -> {
			application.transactions().executeWithoutResult((status) -> application.entities().persist(new Article(2)));
			application.entities().clear();
			Article seen = application.find();
			Article reference = application.entities().getReference(Article.class, 2L);
			assertThat(seen).isNotNull();
			application.stock().changeInTransaction(() -> assertThat(reference.amount()).isEqualTo(100));
			application.entities().clear();
			application.find();
			Article again = application.entities().getReference(Article.class, 2L);
			assertRefused(() -> application.stock().changeInTransaction(again::sell), "Article (amount)");
		}));
	}

	@Test
	void changeOfAnEntityReadInAReadOnlyTransactionIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.caller().readOnly();
			assertRefused(() -> application.stock().changeInTransaction(seen::sell), "Article (amount)");
		}));
	}

	@Test
	void valueThatNeverEqualsItsCopyIsNoChange() {
		run((application) -> {
			application.transactions().executeWithoutResult((status) -> application.find().note = new Article.Note());
			application.inOpenView(() -> {
				Article seen = application.find();
				assertThat(seen.note).isNotNull();
				application.stock().changeInTransaction(seen.tags::size);
			});
		});
	}

	@Test
	void changeForTheViewAfterTheCommitIsAccepted() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.stock().change(() -> {
				application.caller().call(() -> application.find().sell());
				seen.amount = 99;
			});
			assertThat(application.stock().amount()).isEqualTo(99);
		}));
	}

	private static ThrowableAssertAlternative<LockConfigurationException> assertRefused(ThrowingCallable call,
			String changed) {
		return assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call)
			.withMessageStartingWith("Lock 'stock'")
			.withMessageContaining(changed)
			.withMessageContaining("Load it by its id inside the locked method");
	}

}
