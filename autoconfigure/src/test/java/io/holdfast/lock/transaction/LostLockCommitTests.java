package io.holdfast.lock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a transaction does not commit after its lock was lost.
 */
class LostLockCommitTests extends NoteApplication {

	@ParameterizedTest
	@EnumSource
	void lostLockRefusesTheCommitAndNothingIsWritten(Manager manager) {
		run(manager, (context, outer, inner) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inner.writeAndThen("a", () -> lose()))
				.withMessageContaining("Lock 'note' was lost")
				.withMessageContaining("commit was refused");
			assertThat(notes(context)).isEmpty();
			assertThat(this.history.events).containsExactly("lock", "begin", "rollback", "unlock");
		});
	}

	@Test
	void lostLockRefusesTheCommitOfTheCallersTransaction() {
		run((context, outer, inner) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> outer.calling(() -> {
				inner.write("a");
				lose();
			})).withMessageContaining("commit was refused");
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void lostLockRefusesTheCommitOfAnInnerTransaction() {
		runner(Manager.JDBC).withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Inner inner = context.getBean(Inner.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> context.getBean(Outer.class).calling(() -> inner.writeInNewAndThen("a", () -> lose())));
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void lostLockRefusesTheCommitOfAManagerThatIsNoBean() {
		run((context, outer, inner) -> {
			TransactionTemplate own = new TransactionTemplate(
					new JdbcTransactionManager(context.getBean(DataSource.class)));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> own.executeWithoutResult((status) -> {
				try (LockHandle handle = context.getBean(LockOperations.class).acquire(request())) {
					context.getBean(JdbcClient.class).sql("insert into note values ('a')").update();
					lose();
				}
			})).withMessageContaining("commit was refused");
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void releasedLockDoesNotRefuseTheCommitOfAManagerThatIsNoBean() {
		runner(Manager.JDBC).withPropertyValues("distributed-lock.transaction.when-active=allow").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			TransactionTemplate own = new TransactionTemplate(
					new JdbcTransactionManager(context.getBean(DataSource.class)));
			own.executeWithoutResult((status) -> context.getBean(Inner.class).write("a"));
			assertThat(notes(context)).containsExactly("a");
			LockOperations locks = context.getBean(LockOperations.class);
			assertThatExceptionOfType(LockLostException.class).as("still held").isThrownBy(() -> {
				List<LockHandle> open = new ArrayList<>();
				try {
					own.executeWithoutResult((status) -> {
						open.add(locks.acquire(request()));
						lose();
					});
				}
				finally {
					open.forEach(LockHandle::close);
				}
			}).withMessageContaining("commit was refused");
		});
	}

	/** It commits nothing. */
	@Test
	void savepointIsNoCheckedCommit() {
		run((context, outer, inner) -> {
			PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
			TransactionTemplate nested = new TransactionTemplate(manager);
			nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(LockOperations.class).execute(request(), (handle) -> {
					new TransactionTemplate(manager).executeWithoutResult((status) -> {
						nested.executeWithoutResult((savepoint) -> {
						});
						status.setRollbackOnly();
					});
					lose();
					return null;
				}))
				.withMessageContaining("No commit was checked");
		});
	}

	@Test
	void readOnlyTransactionIsNotChecked() {
		run((context, outer, inner) -> assertThatExceptionOfType(LockLostException.class)
			.as("without a commit, the call itself tells")
			.isThrownBy(() -> inner.read(() -> lose()))
			.withMessageContaining("No commit was checked"));
	}

	/** Returns a request whose first renewal comes soon. */
	private static LockRequest request() {
		return LockRequest.forLock(LockName.of("note")).leaseTime(Duration.ofSeconds(1)).build();
	}

	/**
	 * Moves the store's clock past the lease, and waits until the holder is notified of
	 * the loss.
	 */
	private void lose() {
		LockHandle handle = LockHandle.current().orElseThrow();
		this.clock.nanos += Duration.ofMinutes(1).toNanos();
		CompletableFuture<Boolean> notified = new CompletableFuture<>();
		handle.onLost((event) -> notified.complete(true));
		assertThat(notified.orTimeout(20, TimeUnit.SECONDS).join()).isTrue();
	}

}
