package io.holdfast.lock.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with one {@link Ware}, which is sold under {@link #LOCK}.
 */
record WareApplication(EntityManagerFactory factory, EntityManager entities, TransactionTemplate transactions,
		LockOperations locks) {

	static final LockRequest LOCK = LockRequest.of("ware", 1);

	static void run(Scenario scenario) {
		JpaApplication.run((context) -> run(context, scenario));
	}

	static void run(String database, Scenario scenario) {
		if (database.equals(JpaApplication.IN_MEMORY)) {
			run(scenario);
			return;
		}
		JpaApplication.runner(database).run((context) -> {
			assertThat(context).hasNotFailed();
			run(context, scenario);
		});
	}

	private static void run(ApplicationContext context, Scenario scenario) {
		WareApplication application = new WareApplication(context.getBean(EntityManagerFactory.class),
				context.getBean(EntityManager.class), context.getBean(TransactionTemplate.class),
				context.getBean(LockOperations.class));
		application.inTransaction((entities) -> {
			Shelf shelf = new Shelf(1);
			entities.persist(shelf);
			entities.persist(new Ware(1, shelf));
		});
		scenario.run(application);
		JpaApplication.assertNothingIsBound();
		assertThat(SetAsideSessions.any()).as("set aside").isFalse();
	}

	void inOpenView(Runnable request) {
		JpaApplication.inOpenView(this.factory, request);
	}

	void inTransaction(Consumer<EntityManager> work) {
		this.transactions.executeWithoutResult((status) -> work.accept(this.entities));
	}

	void locked(Runnable work) {
		this.locks.execute(LOCK, (handle) -> {
			work.run();
			return null;
		});
	}

	void sell() {
		locked(() -> inTransaction((entities) -> find().stock--));
	}

	Ware find() {
		return this.entities.find(Ware.class, 1L);
	}

	Ware stored() {
		return inAnotherContext((entities) -> find());
	}

	void sellElsewhere() {
		inAnotherContext((entities) -> find().stock--);
	}

	<T> T inAnotherContext(Function<EntityManager, T> work) {
		return CompletableFuture.supplyAsync(() -> this.transactions.execute((status) -> work.apply(this.entities)))
			.join();
	}

	/**
	 * The steps of a test.
	 */
	@FunctionalInterface
	interface Scenario {

		void run(WareApplication application);

	}

}
