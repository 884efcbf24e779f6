package io.holdfast.lock.transaction;

import java.util.concurrent.CompletableFuture;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceContext;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.WhenNotAcquired;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with one {@link Article}, whose {@link Stock} takes locks.
 */
record ArticleApplication(EntityManagerFactory factory, EntityManager entities, TransactionTemplate transactions,
		LockOperations locks, Stock stock, Caller caller) {

	static ApplicationContextRunner runner() {
		return JpaApplication.runner(JpaApplication.IN_MEMORY).withBean(Caller.class).withBean(Stock.class);
	}

	static void run(Scenario scenario) {
		JpaApplication.run((context) -> run(context, scenario));
	}

	static void run(ApplicationContextRunner runner, Scenario scenario) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			run(context, scenario);
		});
	}

	private static void run(ApplicationContext context, Scenario scenario) {
		ArticleApplication application = new ArticleApplication(context.getBean(EntityManagerFactory.class),
				context.getBean(EntityManager.class), context.getBean(TransactionTemplate.class),
				context.getBean(LockOperations.class), context.getBean(Stock.class), context.getBean(Caller.class));
		application.transactions.executeWithoutResult((status) -> application.entities.persist(new Article(1)));
		scenario.run(application);
		JpaApplication.assertNothingIsBound();
	}

	void inOpenView(Runnable request) {
		JpaApplication.inOpenView(this.factory, request);
	}

	EntityManager bound() {
		return JpaApplication.bound(this.factory);
	}

	Article find() {
		return this.entities.find(Article.class, 1L);
	}

	/** Sells one article, as another instance would. */
	void changeElsewhere() {
		CompletableFuture.runAsync(() -> this.transactions.executeWithoutResult((status) -> find().sell())).join();
	}

	/** Reads the amount that is stored, as another instance would. */
	int readElsewhere() {
		return CompletableFuture.supplyAsync(() -> this.caller.readOnly().amount).join();
	}

	/**
	 * The steps of a test.
	 */
	@FunctionalInterface
	interface Scenario {

		void run(ArticleApplication application);

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
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void inNew(Runnable action) {
			action.run();
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

		@Transactional
		public void readCallAndRename(Runnable call) {
			Article article = this.entities.find(Article.class, 1L);
			call.run();
			article.name = "renamed";
		}

		@Transactional
		public void rename() {
			this.entities.find(Article.class, 1L).name = "renamed";
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

}
