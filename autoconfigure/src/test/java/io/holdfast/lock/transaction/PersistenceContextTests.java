package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.context.request.ServletWebRequest;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that entities read before the lock are not served under the lock, and stay usable
 * after it.
 */
class PersistenceContextTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, DataSourceAutoConfiguration.class,
				HibernateJpaAutoConfiguration.class, TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withUserConfiguration(Entities.class)
		.withBean(Caller.class)
		.withBean(Stock.class)
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=0s",
				"spring.datasource.generate-unique-name=true");

	private void run(Scenario scenario) {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			Application application = new Application(context.getBean(EntityManagerFactory.class),
					context.getBean(EntityManager.class), context.getBean(TransactionTemplate.class),
					context.getBean(LockOperations.class), context.getBean(Stock.class), context.getBean(Caller.class));
			application.transactions.executeWithoutResult((status) -> application.entities.persist(new Article(1)));
			scenario.run(application);
			assertThat(LockContext.handles()).isEmpty();
			assertThat(TransactionSynchronizationManager.getResourceMap()).as("bound to the thread").isEmpty();
		});
	}

	@Test
	void entityOfTheRequestIsReloadedUnderTheLockAndUsable() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			assertThat(application.stock.amount()).isEqualTo(99);
			assertThat(application.find()).isSameAs(seen);
			assertThat(seen.tags).as("a lazy collection").isEmpty();
		}));
	}

	@Test
	void programmaticLockReloadsEntitiesToo() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			try (LockHandle handle = application.locks.acquire(LockRequest.of("stock"))) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(application.find().amount).isEqualTo(99);
			}
			assertThat(application.locks.<Integer, RuntimeException>execute(LockRequest.of("stock"),
					(handle) -> application.find().amount))
				.isEqualTo(99);
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void severalLocksAreOneCall() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.changeElsewhere();
			LockRequest both = LockRequest.forLocks(List.of(LockName.of("stock"), LockName.of("till"))).build();
			try (LockHandle handle = application.locks.acquire(both)) {
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
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(application.stock::fail);
			assertThat(application.find()).isSameAs(seen);
			LockHandle other = CompletableFuture.supplyAsync(() -> application.locks.acquire(LockRequest.of("stock")))
				.join();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(application.stock::amount);
			assertThat(application.find()).isSameAs(seen);
			assertThat(application.stock.skip()).isNull();
			assertThat(application.find()).isSameAs(seen);
			assertThat(application.stock.amountOrSeen()).as("the fallback works on what was read").isSameAs(seen);
			assertThat(application.locks.tryAcquire(LockRequest.of("stock"))).isEqualTo(Optional.empty());
			assertThat(application.find()).isSameAs(seen);
			other.close();
		}));
	}

	@Test
	void entityReadUnderTheLockIsKeptForAReentrantCall() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			application.locks.execute(LockRequest.of("stock"), (handle) -> {
				Article underTheLock = application.find();
				assertThat(application.stock.find()).isSameAs(underTheLock);
				return application.locks.execute(LockRequest.of("stock"), (again) -> {
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
			application.locks.execute(LockRequest.of("till"), (handle) -> {
				Article underTheTill = application.find();
				application.changeElsewhere();
				assertThat(application.stock.amount()).isEqualTo(99);
				assertThat(application.find()).isSameAs(underTheTill).isNotSameAs(seen);
				return null;
			});
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void emptyContextIsKeptSoTheResultIsAttached() {
		run((application) -> application.inOpenView(() -> {
			Article result = application.stock.find();
			assertThat(application.find()).isSameAs(result);
			assertThat(result.tags).as("a lazy collection").isEmpty();
		}));
	}

	@Test
	void changeUnderTheLockOfAnEarlierEntityIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock.changeInTransaction(seen::sell), "Article (amount)")
				.withMessageContaining("The commit was refused and the transaction is rolled back");
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void changeWithoutATransactionIsRefusedAtTheEndOfTheCall() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock.change(seen::sell), "Article (amount)")
				.withMessageNotContaining("commit was refused");
			assertThat(application.find()).isSameAs(seen);
		}));
	}

	@Test
	void changeUnderOneOfSeveralLocksIsRefusedAtTheCommit() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			LockRequest both = LockRequest.forLocks(List.of(LockName.of("stock"), LockName.of("till"))).build();
			try (LockHandle handle = application.locks.acquire(both)) {
				assertThat(handle.parts()).hasSize(2);
				assertRefused(() -> application.transactions.executeWithoutResult((status) -> seen.sell()),
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
			application.stock.changeInTransaction(seen.tags::size);
			application.stock.change(seen.tags::size);
			assertRefused(() -> application.stock.changeInTransaction(seen::sell), "Article (amount)");
		}));
	}

	@Test
	void changeOfACollectionIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			assertRefused(() -> application.stock.changeInTransaction(() -> seen.tags.add("sold")), "Article.tags");
		}));
	}

	@Test
	void changeOfAnEntityLoadedByAnEarlierReferenceIsRefused() {
		run((application) -> application.inOpenView(() -> {
			application.transactions.executeWithoutResult((status) -> application.entities.persist(new Article(2)));
			application.entities.clear();
			Article seen = application.find();
			Article reference = application.entities.getReference(Article.class, 2L);
			assertThat(seen).isNotNull();
			application.stock.changeInTransaction(() -> assertThat(reference.amount()).isEqualTo(100));
			application.entities.clear();
			application.find();
			Article again = application.entities.getReference(Article.class, 2L);
			assertRefused(() -> application.stock.changeInTransaction(again::sell), "Article (amount)");
		}));
	}

	@Test
	void changeOfAnEntityReadInAReadOnlyTransactionIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.caller.readOnly();
			assertRefused(() -> application.stock.changeInTransaction(seen::sell), "Article (amount)");
		}));
	}

	@Test
	void valueThatNeverEqualsItsCopyIsNoChange() {
		run((application) -> {
			application.transactions.executeWithoutResult((status) -> application.find().note = new Note());
			application.inOpenView(() -> {
				Article seen = application.find();
				assertThat(seen.note).isNotNull();
				application.stock.changeInTransaction(seen.tags::size);
			});
		});
	}

	@Test
	void changeForTheViewAfterTheCommitIsAccepted() {
		run((application) -> application.inOpenView(() -> {
			Article seen = application.find();
			application.stock.change(() -> {
				application.caller.call(() -> application.find().sell());
				seen.amount = 99;
			});
			assertThat(application.stock.amount()).isEqualTo(99);
		}));
	}

	private static ThrowableAssertAlternative<LockConfigurationException> assertRefused(ThrowingCallable call,
			String changed) {
		return assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(call)
			.withMessageStartingWith("Lock 'stock'")
			.withMessageContaining(changed)
			.withMessageContaining("Load it by its id inside the locked method");
	}

	@Test
	void resultOfACallWhoseContextWasSetAsideIsDetached() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			Article result = application.stock.find();
			assertThat(application.entities.contains(result)).isFalse();
		}));
	}

	@Test
	void handleThatIsClosedOnAnotherThreadLeavesNoContextOpen() {
		run((application) -> {
			List<EntityManager> opened = new ArrayList<>();
			application.inOpenView(() -> {
				application.find();
				opened.add(application.bound());
				LockHandle handle = application.locks.acquire(LockRequest.of("stock"));
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
				LockHandle handle = application.locks.acquire(LockRequest.of("stock"));
				opened.add(application.bound());
				application.transactions.executeWithoutResult((status) -> {
					application.find().sell();
					handle.close();
				});
			});
			assertThat(application.stock.amount()).isEqualTo(99);
			assertThat(opened).hasSize(2).doesNotHaveDuplicates().noneMatch(EntityManager::isOpen);
		});
	}

	@Test
	void callersTransactionThatHasReadIsRefusedWithTheRemedy() {
		run((application) -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> application.caller.readAndCall(application.stock::sell))
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
				.isThrownBy(() -> application.caller.call(application.stock::sell))
				.withMessageContaining("read or written before the lock");
		}));
	}

	@Test
	void callersTransactionThatHasClearedItsContextKeepsTheLock() {
		run((application) -> {
			application.caller.readAndCall(() -> {
				application.entities.flush();
				application.entities.clear();
				application.changeElsewhere();
				application.stock.sell();
			});
			assertThat(application.stock.amount()).isEqualTo(98);
		});
	}

	@Test
	void callersReadsDoNotAffectAMethodWithItsOwnTransaction() {
		run((application) -> {
			application.caller.readAndCall(() -> {
				Article seen = application.find();
				application.stock.sellInNew();
				assertThat(application.find()).isSameAs(seen);
			});
			application.inOpenView(() -> {
				application.find();
				application.caller.call(application.stock::sellInNew);
			});
			assertThat(application.stock.amount()).isEqualTo(98);
		});
	}

	@Test
	void uninitializedReferenceDoesNotCountAsRead() {
		run((application) -> {
			application.caller.call(() -> {
				Article reference = application.entities.getReference(Article.class, 1L);
				assertThat(reference).isNotNull();
				application.stock.sell();
			});
			assertThat(application.stock.amount()).isEqualTo(99);
		});
	}

	@Test
	void callerUnderTheSameLockIsNotRefused() {
		run((application) -> {
			application.locks.execute(LockRequest.of("stock"), (handle) -> {
				application.caller.readAndCall(application.stock::sell);
				return null;
			});
			assertThat(application.stock.amount()).isEqualTo(99);
		});
	}

	@Test
	void callerThatHasReadWhereTransactionsAreSupportedIsRefused() {
		run((application) -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> application.caller.readAndCallIfSupported(application.stock::sell))
			.withMessageContaining("read or written before the lock"));
	}

	@Test
	void contextOfEachFactoryIsSetAside() {
		this.runner.run((context) -> {
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

	/**
	 * The steps of a test.
	 */
	@FunctionalInterface
	interface Scenario {

		void run(Application application);

	}

	/**
	 * The parts of the application that a test uses.
	 */
	record Application(EntityManagerFactory factory, EntityManager entities, TransactionTemplate transactions,
			LockOperations locks, Stock stock, Caller caller) {

		void inOpenView(Runnable request) {
			OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
			view.setEntityManagerFactory(this.factory);
			ServletWebRequest web = new ServletWebRequest(new MockHttpServletRequest());
			view.preHandle(web);
			try {
				request.run();
			}
			finally {
				EntityManager bound = bound();
				view.afterCompletion(web, null);
				assertThat(bound.isOpen()).as("open after the request").isFalse();
			}
		}

		EntityManager bound() {
			return ((EntityManagerHolder) Map.copyOf(TransactionSynchronizationManager.getResourceMap())
				.get(this.factory)).getEntityManager();
		}

		Article find() {
			return this.entities.find(Article.class, 1L);
		}

		/** Sells one article, as another instance would. */
		void changeElsewhere() {
			CompletableFuture.runAsync(() -> this.transactions.executeWithoutResult((status) -> find().sell())).join();
		}

	}

	/**
	 * Scans for the entities.
	 */
	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = PersistenceContextTests.class)
	static class Entities {

	}

	/**
	 * Changes the article that the lock protects.
	 */
	static class Stock {

		@PersistenceContext
		private EntityManager entities;

		@DistributedLock("stock")
		@Transactional
		public void sell() {
			find().sell();
		}

		@DistributedLock("stock")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void sellInNew() {
			find().sell();
		}

		@DistributedLock("stock")
		@Transactional
		public Article find() {
			return this.entities.find(Article.class, 1L);
		}

		@DistributedLock("stock")
		@Transactional
		public void changeInTransaction(Runnable change) {
			change.run();
		}

		@DistributedLock("stock")
		public void change(Runnable change) {
			change.run();
		}

		@DistributedLock("stock")
		public int amount() {
			return this.entities.find(Article.class, 1L).amount;
		}

		@DistributedLock("stock")
		public void fail() {
			throw new IllegalStateException("no");
		}

		@DistributedLock(name = "stock", whenNotAcquired = WhenNotAcquired.SKIP)
		public Article skip() {
			return find();
		}

		@DistributedLock(name = "stock", fallback = "seen")
		public Article amountOrSeen() {
			return find();
		}

		Article seen() {
			return this.entities.find(Article.class, 1L);
		}

	}

	/**
	 * Calls an action from its own transaction.
	 */
	static class Caller {

		@PersistenceContext
		private EntityManager entities;

		@Transactional
		public void readAndCall(Runnable call) {
			this.entities.find(Article.class, 1L);
			call.run();
		}

		@Transactional(readOnly = true)
		public Article readOnly() {
			return this.entities.find(Article.class, 1L);
		}

		@Transactional
		public void call(Runnable call) {
			call.run();
		}

		@Transactional(propagation = Propagation.SUPPORTS)
		public void readAndCallIfSupported(Runnable call) {
			this.entities.find(Article.class, 1L);
			call.run();
		}

	}

	/**
	 * An entity with an amount.
	 */
	@Entity(name = "article")
	static class Article {

		@Id
		private long id;

		private int amount = 100;

		@ElementCollection
		private List<String> tags = new ArrayList<>();

		@Convert(converter = NoteConverter.class)
		private Note note;

		protected Article() {
		}

		Article(long id) {
			this.id = id;
		}

		void sell() {
			this.amount--;
		}

		int amount() {
			return this.amount;
		}

	}

	/**
	 * A mutable value without {@code equals}.
	 */
	static class Note {

		private String text = "none";

	}

	/**
	 * Converts a note.
	 */
	static class NoteConverter implements AttributeConverter<Note, String> {

		@Override
		public String convertToDatabaseColumn(Note note) {
			return (note != null) ? note.text : null;
		}

		@Override
		public Note convertToEntityAttribute(String text) {
			return (text != null) ? new Note() : null;
		}

	}

}
