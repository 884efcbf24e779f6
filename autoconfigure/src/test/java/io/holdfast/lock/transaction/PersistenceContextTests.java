package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.transaction.ArticleApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that entities read before the lock are not served under the lock, and stay usable
 * after it.
 */
class PersistenceContextTests {

	@Test
	void entityOfTheRequestIsReloadedUnderTheLockAndUsable() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			assertThat(application.stock().amount()).isEqualTo(99);
			assertThat(application.find()).isSameAs(seen);
			assertThat(seen.tags).as("a lazy collection").isEmpty();
		}));
	}

	@Test
	void programmaticLockReloadsEntitiesToo() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			try (LockHandle handle = application.locks().acquire(LockRequest.of("stock"))) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(application.find().amount).isEqualTo(99);
			}
			assertThat(application.locks()
				.<Integer, RuntimeException>execute(LockRequest.of("stock"), (handle) -> application.find().amount))
				.isEqualTo(99);
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	/** As in a transactional event listener, whose repository has cleaned up before. */
	@Test
	@DisplayName("A locked transaction after a commit writes, although the listener has read before")
	void lockedTransactionWritesAlthoughTheListenerHasRead() {
		run((application) -> {
			application.caller().call(() -> {
				application.find();
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCompletion(int status) {
						application.caller().readOnly();
						application.stock().sellInNew();
					}
				});
			});
			assertThat(application.caller().readOnly().amount).isEqualTo(99);
		});
	}

	@Test
	void filterOfTheRequestAppliesUnderTheLock() {
		run((application) -> application.inOpenView(() -> {
			application.entities().unwrap(Session.class).enableFilter("few").setParameter("most", 50);
			application.find();
			assertThat(application.locks()
				.<Long, RuntimeException>execute(LockRequest.of("stock"),
						(handle) -> application.entities()
							.createQuery("select count(a) from article a", Long.class)
							.getSingleResult()))
				.isZero();
		}));
	}

	@Test
	void severalLocksAreOneCall() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			LockRequest both = LockRequest.forLocks(List.of(LockName.of("stock"), LockName.of("till"))).build();
			try (LockHandle handle = application.locks().acquire(both)) {
				assertThat(handle.parts()).hasSize(2);
				assertThat(application.find().amount).isEqualTo(99);
			}
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void contextIsRestoredHoweverTheCallEnds() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(application.stock()::fail);
			assertThat(application.find()).isSameAs(seen);
			LockHandle other = CompletableFuture.supplyAsync(() -> application.locks().acquire(LockRequest.of("stock")))
				.join();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(application.stock()::amount);
			assertThat(application.find()).isSameAs(seen);
			assertThat(application.stock().skip()).isNull();
			assertThat(application.find()).isSameAs(seen);
			assertThat(application.stock().amountOrSeen()).as("the fallback works on what was read").isSameAs(seen);
			assertThat(application.locks().tryAcquire(LockRequest.of("stock"))).isEqualTo(Optional.empty());
			assertThat(application.find()).isSameAs(seen);
			other.close();
		}));
	}

	@Test
	void entityReadUnderTheLockIsKeptForAReentrantCall() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			application.locks().execute(LockRequest.of("stock"), (handle) -> {
				Article underTheLock = application.find();
				assertThat(application.stock().find()).isSameAs(underTheLock);
				return application.locks().execute(LockRequest.of("stock"), (again) -> {
					assertThat(application.find()).isSameAs(underTheLock);
					return null;
				});
			});
		}));
	}

	@Test
	void entityReadUnderAnotherLockIsReloaded() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.locks().execute(LockRequest.of("till"), (handle) -> {
				Article underTheTill = application.find();
				application.changeElsewhere();
				assertThat(application.stock().amount()).isEqualTo(99);
				assertThat(application.find()).isSameAs(underTheTill).isNotSameAs(seen);
				return null;
			});
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void emptyContextIsKeptSoTheResultIsAttached() {
		run((application) -> application.inOpenView(() -> {
			Article result = application.stock().find();
			assertThat(application.find()).isSameAs(result);
			assertThat(result.tags).as("a lazy collection").isEmpty();
		}));
	}

	@Test
	void resultOfACallWhoseContextWasSetAsideIsDetached() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			Article result = application.stock().find();
			assertThat(application.entities().contains(result)).isFalse();
		}));
	}

	@Test
	void handleThatIsClosedOnAnotherThreadLeavesNoContextOpen() {
		run((application) -> {
			List<EntityManager> opened = new ArrayList<>();
			application.inOpenView(() -> {
				application.find();
				opened.add(application.bound());
				LockHandle handle = application.locks().acquire(LockRequest.of("stock"));
				opened.add(application.bound());
				CompletableFuture.runAsync(handle::close).join();
			});
			assertThat(opened).hasSize(2).doesNotHaveDuplicates().noneMatch(EntityManager::isOpen);
		});
	}

	@Test
	void handleThatIsClosedInATransactionLeavesNoContextOpen() {
		run((application) -> {
			List<EntityManager> opened = new ArrayList<>();
			application.inOpenView(() -> {
				application.find();
				opened.add(application.bound());
				LockHandle handle = application.locks().acquire(LockRequest.of("stock"));
				opened.add(application.bound());
				application.transactions().executeWithoutResult((status) -> {
					application.find().sell();
					handle.close();
				});
			});
			assertThat(application.stock().amount()).isEqualTo(99);
			assertThat(opened).hasSize(2).doesNotHaveDuplicates().noneMatch(EntityManager::isOpen);
		});
	}

	@Test
	void contextOfEachFactoryIsSetAside() {
		ArticleApplication.runner().run((context) -> {
			EntityManagerFactory other = ((EntityManagerFactoryInfo) context.getBean(EntityManagerFactory.class))
				.getNativeEntityManagerFactory();
			assertThat(other).isNotSameAs(context.getBean(EntityManagerFactory.class));
			EntityManager open = other.createEntityManager();
			TransactionSynchronizationManager.bindResource(other, new EntityManagerHolder(open));
			open.getTransaction().begin();
			open.persist(new Article(7));
			open.getTransaction().commit();
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock"))) {
				assertThat(handle.isHeld()).isTrue();
				EntityManagerHolder bound = (EntityManagerHolder) TransactionSynchronizationManager.getResource(other);
				assertThat(bound.getEntityManager()).isNotSameAs(open);
				assertThat(bound.getEntityManager().unwrap(Session.class).getStatistics().getEntityCount()).isZero();
			}
			EntityManagerHolder holder = (EntityManagerHolder) TransactionSynchronizationManager.unbindResource(other);
			assertThat(holder.getEntityManager()).isSameAs(open);
			open.close();
		});
	}

}
