package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.isWanted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how the backend marks and demands sticky leases in PostgreSQL, and the connection
 * that receives the demands.
 */
class PostgresDemandTests extends PostgresStickyFixture {

	@AutoClose
	private final TcpProxy wire = TcpProxy.to(this.server.port());

	private Claim sticky() {
		return claim(this.lock, LockMode.EXCLUSIVE, Duration.ZERO, true);
	}

	private Claim waiting() {
		return claim(this.lock, LockMode.EXCLUSIVE, LONG, false);
	}

	private Grant stickyGrant() throws Exception {
		listens(this.first);
		Grant grant = granted(this.first, sticky());
		assertThat(grant.sticky()).isTrue();
		assertThat(isWanted(grant)).isFalse();
		return grant;
	}

	@Test
	void waiterGetsTheLockOfADeadInstanceWhenItsLeaseEnds() throws Exception {
		Grant idle = granted(this.first, new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE,
				Duration.ofMillis(500), true, Duration.ZERO, false, true));
		Claim waiter = waiting();
		refused(this.second, waiter);
		Grant next = soonGranted(this.second, waiter);
		assertThat(next.storeToken()).isGreaterThan(idle.storeToken());
		released(this.second, next);
		assertThat(answer(this.first.release(idle))).isInstanceOf(ReleaseResult.NotHeld.class);
	}

	@ParameterizedTest
	@EnumSource
	void rejectedClaimDemandsTheLease(LockMode mode) throws Exception {
		for (Duration wait : List.of(Duration.ZERO, LONG)) {
			Grant idle = stickyGrant();
			Claim claim = claim(this.lock, mode, wait, false);
			assertThat(demanded(this.second, claim)).isTrue();
			awaitSignal(idle.wanted());
			answer(this.second.abandon(claim));
			released(this.first, idle);
			expireMarks();
		}
	}

	/**
	 * The database rolls back the announcement of a rejected claim in favor of another.
	 */
	@Test
	void leaseThatARepeatedStatementGrantsIsDemanded() throws Exception {
		Grant before = granted(this.second, nonWaiting());
		AtomicBoolean once = new AtomicBoolean(true);
		DataSource failing = HookedConnections.before(this.pool, "prepareStatement", "waiter_since_us = ", () -> {
			if (once.getAndSet(false)) {
				released(this.second, before);
				throw new SQLException("could not serialize access", "40001");
			}
			return null;
		});
		try (JdbcLockBackend backend = backend(failing)) {
			listens(backend);
			Grant idle = granted(backend, claim(this.lock, LockMode.EXCLUSIVE, LONG, true));
			assertThat(demanded(this.second, nonWaiting())).isTrue();
			awaitSignal(idle.wanted());
			released(backend, idle);
		}
	}

	/** The connection of the first attempt breaks after the second one was granted. */
	@Test
	void lateFailureOfAnEarlierAttemptLeavesTheDemandOfTheLease() throws Exception {
		AtomicBoolean breaks = new AtomicBoolean();
		CompletableFuture<Void> sent = new CompletableFuture<>();
		CompletableFuture<Void> broken = new CompletableFuture<>();
		DataSource breaking = HookedConnections.before(this.pool, "prepareStatement", "holdfast_lock", () -> {
			if (breaks.getAndSet(false)) {
				sent.complete(null);
				broken.join();
				throw new SQLException("connection reset", "08006");
			}
			return null;
		});
		try (JdbcLockBackend backend = backend(breaking)) {
			listens(backend);
			Claim claim = claim(this.lock, LockMode.EXCLUSIVE, LONG, true);
			breaks.set(true);
			CompletableFuture<AcquireResult> earlier = CompletableFuture.supplyAsync(() -> backend.tryAcquire(claim))
				.thenCompose(Function.identity());
			sent.join();
			Grant idle = granted(backend, claim);
			broken.complete(null);
			assertThat(earlier.join()).isInstanceOf(AcquireResult.Indeterminate.class);
			assertThat(demanded(this.second, nonWaiting())).isTrue();
			awaitSignal(idle.wanted());
			released(backend, idle);
			assertThat(backend.waiting()).isZero();
		}
	}

	/** As if the last waiter had left long ago. */
	private void expireMarks() {
		this.jdbc.sql("UPDATE holdfast_lock SET waiter_until_us = 0").update();
	}

	@Test
	void closedBackendHasReturnedTheConnectionThatListens() {
		try (HikariDataSource own = pool(this.server.port()); JdbcLockBackend backend = backend(own)) {
			listens(backend);
			assertThat(own.getHikariPoolMXBean().getActiveConnections()).isOne();
			backend.close();
			assertThat(own.getHikariPoolMXBean().getActiveConnections()).isZero();
		}
	}

	@Test
	void withdrawalOfAWaiterKeepsTheLeaseSticky() throws Exception {
		Grant idle = stickyGrant();
		Claim waiter = waiting();
		refused(this.second, waiter);
		answer(this.second.abandon(waiter));
		assertThat(demanded(this.second, nonWaiting())).isTrue();
		released(this.first, idle);
	}

	@Test
	void lockThatIsKeptForAWaiterIsNotDemanded() throws Exception {
		Grant idle = stickyGrant();
		Claim waiter = waiting();
		refused(this.second, waiter);
		released(this.first, idle);
		assertThat(demanded(this.first, nonWaiting())).isFalse();
		released(this.second, granted(this.second, waiter));
	}

	@Test
	void leaseThatIsNoLongerStickyIsNotDemanded() throws Exception {
		released(this.first, stickyGrant());
		Grant plain = granted(this.first, nonWaiting());
		assertThat(demanded(this.second, nonWaiting())).isFalse();
		released(this.first, plain);
	}

	@Test
	void stickyLeaseIsWantedIfAClaimAlreadyWaits() throws Exception {
		Grant held = granted(this.second, nonWaiting());
		listens(this.first);
		Claim next = claim(this.lock, LockMode.EXCLUSIVE, LONG, true);
		refused(this.first, next);
		Claim last = waiting();
		refused(this.second, last);
		released(this.second, held);
		Grant idle = granted(this.first, next);
		awaitSignal(idle.wanted());
		released(this.first, idle);
		released(this.second, soonGranted(this.second, last));
		Grant later = granted(this.first, sticky());
		assertThat(isWanted(later)).as("demand long after the wait").isFalse();
		released(this.first, later);
	}

	@Test
	void leaseIsNotStickyBeforeTheConnectionListens() throws Exception {
		CompletableFuture<Boolean> granted = new CompletableFuture<>();
		try (JdbcLockBackend fresh = backend(listeningAfter(granted))) {
			Grant grant = granted(fresh, sticky());
			granted.complete(true);
			assertThat(grant.sticky()).isFalse();
			assertThat(demanded(this.second, nonWaiting())).isFalse();
			released(fresh, grant);
		}
	}

	private DataSource listeningAfter(CompletableFuture<?> event) {
		Thread caller = Thread.currentThread();
		return new DelegatingDataSource(this.pool) {

			@Override
			public Connection getConnection() throws SQLException {
				if (Thread.currentThread() != caller) {
					event.join();
				}
				return super.getConnection();
			}

		};
	}

	@Test
	void claimThatFailsExpectsNoDemand() throws Exception {
		listens(this.first);
		this.jdbc.sql("ALTER TABLE holdfast_lock RENAME TO hidden").update();
		try {
			assertThat(this.first.tryAcquire(sticky()).toCompletableFuture()).isCompletedExceptionally();
			assertThat(this.first.waiting()).isZero();
		}
		finally {
			this.jdbc.sql("ALTER TABLE hidden RENAME TO holdfast_lock").update();
		}
	}

	/** The connection that listens also sends an empty statement, which checks it. */
	@Test
	void lostConnectionDemandsAllLeases() throws Exception {
		Grant idle = stickyGrant();
		this.jdbc.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = ''")
			.query((row) -> {
			});
		awaitSignal(idle.wanted());
		released(this.first, idle);
		released(this.first, stickyGrant());
	}

	/** Without the check, the demands of other instances would be lost for hours. */
	@Slow
	@Test
	void silentConnectionDemandsAllLeases() throws Exception {
		try (HikariDataSource silent = pool(this.wire.port());
				JdbcLockBackend far = backend(silent, JdbcContract.RESPONSE_TIMEOUT)) {
			listens(far);
			Grant idle = granted(far, sticky());
			this.wire.stall();
			this.ahead.addAndGet(Duration.ofMinutes(1).toNanos());
			awaitSignal(idle.wanted());
			this.wire.flow();
			released(this.first, idle);
		}
		finally {
			this.wire.flow();
		}
	}

	/**
	 * The pool would otherwise lack it until the operating system detects the silence.
	 */
	@Slow
	@Test
	void silentConnectionThatIsNoLongerNeededIsClosed() {
		try (HikariDataSource silent = pool(this.wire.port());
				JdbcLockBackend far = backend(silent, JdbcContract.RESPONSE_TIMEOUT)) {
			listens(far);
			this.wire.stall();
			this.ahead.addAndGet(Duration.ofMinutes(1).toNanos());
			Awaitility.await("the end of the connection")
				.atMost(BOUND)
				.until(() -> silent.getHikariPoolMXBean().getActiveConnections() == 0);
		}
		finally {
			this.wire.flow();
		}
	}

	@Test
	void capabilityRequiresNotifications() {
		assertThat(this.first.capabilities().has(Capability.DEMAND)).isTrue();
		try (JdbcLockBackend deaf = new JdbcLockBackend(this.pool,
				new JdbcLockOptions("test", JdbcContract.TABLE, JdbcContract.RESPONSE_TIMEOUT, false))) {
			assertThat(deaf.capabilities().has(Capability.DEMAND)).isFalse();
		}
	}

}
