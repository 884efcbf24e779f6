package io.holdfast.lock.transaction;

import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicReference;

import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for a failure right after the begin of a transaction, which is not yet known to
 * keep its lock or to read past caches then. Spring would leave its connection on the
 * thread, where later transactions join it.
 */
class FailureAfterBeginTests {

	private static final String REQUEST = "the persistence context of the request";

	private final DriverManagerDataSource dataSource = new DriverManagerDataSource(
			"jdbc:h2:mem:after-begin;DB_CLOSE_DELAY=-1");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private final AtomicReference<Throwable> failure = new AtomicReference<>();

	private Runnable unbind = () -> {
	};

	@BeforeEach
	void hold() {
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS note (text VARCHAR)");
		this.jdbc.update("DELETE FROM note");
		this.unbind = LockContext.bind(proxy(LockHandle.class));
		TransactionSynchronizationManager.bindResource(REQUEST, new EntityManagerHolder(proxy(EntityManager.class)));
	}

	@AfterEach
	void unbind() {
		this.unbind.run();
		TransactionSynchronizationManager.unbindResource(REQUEST);
		assertThat(TransactionSynchronizationManager.getResourceMap()).as("the connection is returned").isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	/** Returns an object whose methods do nothing, or fail with {@link #failure}. */
	private <T> T proxy(Class<T> type) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (self, method, args) -> {
				Throwable thrown = (type == EntityManager.class) ? this.failure.get() : null;
				if (thrown != null) {
					throw thrown;
				}
				return switch (method.getName()) {
					case "hashCode" -> System.identityHashCode(self);
					case "equals" -> self == args[0];
					default -> null;
				};
			}));
	}

	private Throwable writing(Throwable thrown) {
		DataSourceTransactionManager manager = new DataSourceTransactionManager(this.dataSource);
		manager.addListener(new LockCommitListener((hold) -> true));
		this.failure.set(thrown);
		return catchThrowable(() -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
			this.failure.set(null);
			this.jdbc.update("INSERT INTO note VALUES ('written')");
		}));
	}

	@Test
	void closedContextOfTheRequestRollsBack() {
		IllegalStateException closed = new IllegalStateException("Session/EntityManager is closed");
		assertThat(writing(closed)).isSameAs(closed);
		assertThat(this.jdbc.queryForList("SELECT text FROM note")).isEmpty();
	}

	@Test
	void errorRollsBack() {
		Throwable error = new StackOverflowError();
		assertThat(writing(error)).isSameAs(error);
		assertThat(this.jdbc.queryForList("SELECT text FROM note")).isEmpty();
	}

	@Test
	void transactionWithoutAFailureCommits() {
		assertThat(writing(null)).isNull();
		assertThat(this.jdbc.queryForList("SELECT text FROM note")).hasSize(1);
	}

}
