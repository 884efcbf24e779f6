package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for sessions of advisory locks that are cut off, stuck, or withdrawn early.
 */
class AdvisoryFaultTests {

	private static final Duration LONG_WAIT = Duration.ofMinutes(5);

	@AutoClose
	private static final AdvisoryFixture postgres = new AdvisoryFixture();

	@AutoClose
	private final TcpProxy wire = TcpProxy.to(postgres.server.port());

	private final HikariDataSource pool = postgres.pool(4, this.wire.port());

	private final AdvisoryLockBackend store = postgres.backend(this.pool);

	private final AdvisoryLockBackend other = postgres.backend(postgres.pool(4));

	private final LockName lock = LockName.of("fault", UUID.randomUUID().toString());

	/** As after the end of its process. */
	@Test
	void waiterThatIsCutOffLeavesTheQueueOfTheServer() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		refused(this.store, claim(this.lock).withRemainingWait(LONG_WAIT));
		postgres.awaitWaiters(1);
		this.wire.cut();
		postgres.awaitWaiters(0);
		released(this.other, holder);
	}

	@Slow
	@Test
	void withdrawalDuringTheFirstAttemptLeavesTheQueue() throws Exception {
		Grant holder = granted(this.other, claim(this.lock));
		for (int i = 0; i < 100; i++) {
			Claim waiter = claim(this.lock).withRemainingWait(LONG_WAIT);
			CompletableFuture<?> attempt = CompletableFuture.runAsync(() -> this.store.tryAcquire(waiter));
			this.store.abandon(waiter);
			attempt.get(BOUND.toSeconds(), TimeUnit.SECONDS);
			this.store.abandon(waiter);
		}
		postgres.awaitWaiters(0);
		assertThat(this.store.sessions()).isZero();
		released(this.other, holder);
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	/** Without a response in time, the connection of the stuck session is closed soon. */
	@Test
	void stuckSessionDoesNotDelayOtherRenewals() throws Exception {
		Grant stuck = granted(this.other, claim(this.lock));
		Grant healthy = granted(this.other, claim(LockName.of("healthy", UUID.randomUUID().toString())));
		String process = Integer
			.toString(postgres.admin.sql("SELECT pid FROM pg_stat_activity WHERE application_name LIKE ?")
				.param("holdfast " + stuck.claim().owner().value() + "%")
				.query(Integer.class)
				.single());
		signal("-STOP", process);
		try {
			List<RenewResult> results = answer(this.other.renew(List.of(stuck, healthy)));
			assertThat(results.get(0)).isNotInstanceOf(RenewResult.Renewed.class);
			assertThat(results.get(1)).isInstanceOf(RenewResult.Renewed.class);
		}
		finally {
			signal("-CONT", process);
		}
		released(this.other, healthy);
		this.other.release(stuck);
	}

	private static void signal(String signal, String process) throws Exception {
		assertThat(new ProcessBuilder("kill", signal, process).start().waitFor()).isZero();
	}

	@Test
	void forcedReleaseByAnotherUserNamesTheRole() throws Exception {
		postgres.admin.sql("CREATE USER stranger").update();
		Grant holder = granted(this.other, claim(this.lock));
		HikariDataSource foreign = postgres.pool(2);
		foreign.setUsername("stranger");
		AdvisoryLockBackend stranger = postgres.backend(foreign);
		LockState.Holder seen = answer(this.other.find(this.lock)).holders().get(0);
		assertThat(stranger.revoke(this.lock, seen).toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContaining("'pg_signal_backend'")
			.withMessageContaining(this.lock.toString());
		released(this.other, holder);
	}

	@Test
	void operatorsNeedNoConnectionOfTheLocks() throws Exception {
		HikariDataSource full = postgres.pool(1);
		try (AdvisoryLockBackend locks = new AdvisoryLockBackend(full, this.pool,
				new AdvisoryLockOptions("test", JdbcContract.TABLE, AdvisoryFixture.RESPONSE_TIMEOUT, false))) {
			Grant holder = granted(locks, claim(this.lock));
			assertThat(answer(locks.status()).details()).containsEntry("mode", "advisory");
			LockState.Holder seen = answer(locks.find(this.lock)).holders().get(0);
			assertThat(seen.ownerId()).isEqualTo(holder.claim().owner().value());
			assertThat(answer(locks.revoke(this.lock, seen))).isTrue();
			assertThat(answer(locks.renew(List.of(holder)))).containsExactly(new RenewResult.Refused());
			assertThat(answer(locks.tryAcquire(claim(this.lock)))).isInstanceOf(AcquireResult.Acquired.class);
		}
	}

}
