package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.FailingLog;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the end of a session that has an advisory lock: its successor gets the lock,
 * and its holder is told.
 */
class AdvisorySessionTests {

	@AutoClose
	private static final AdvisoryFixture postgres = new AdvisoryFixture();

	private final TcpProxy wire = TcpProxy.to(postgres.server.port());

	private final LockName lock = LockName.of("session", UUID.randomUUID().toString());

	private HikariDataSource pool;

	private AdvisoryLockBackend store;

	private AdvisoryLockBackend other;

	@BeforeEach
	void connect() {
		this.pool = postgres.pool(4, this.wire.port());
		this.store = postgres.backend(this.pool);
		this.other = postgres.backend(postgres.pool(4));
	}

	@AfterEach
	void close() {
		this.store.close();
		this.other.close();
		this.wire.close();
	}

	/** What ends a session before its lease. */
	enum End {

		TERMINATED {
			@Override
			void happen(AdvisorySessionTests test) {
				postgres.terminateHolders();
			}
		},

		CUT {
			@Override
			void happen(AdvisorySessionTests test) {
				test.wire.cut();
			}
		},

		RESTARTED {
			@Override
			void happen(AdvisorySessionTests test) {
				postgres.server.kill();
				postgres.server.start();
			}
		},

		REVOKED {
			@Override
			void happen(AdvisorySessionTests test) throws Exception {
				assertThat(answer(test.other.revoke(test.lock, answer(test.other.find(test.lock)).holders().get(0))))
					.isTrue();
			}
		};

		abstract void happen(AdvisorySessionTests test) throws Exception;

	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void confirmationFailsAfterTheEndOfTheSession(End end) throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		assertThat(answer(this.store.confirm(grant))).isTrue();
		end.happen(this);
		assertThat(answer(this.store.confirm(grant))).isFalse();
		assertSuccessor(grant);
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void renewalIsRefusedAfterTheEndOfTheSession(End end) throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		end.happen(this);
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		assertSuccessor(grant);
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void releaseAfterTheEndOfTheSessionLeavesNothing(End end) throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		end.happen(this);
		assertThat(answer(this.store.release(grant))).isNotInstanceOf(ReleaseResult.Released.class);
		assertThat(answer(this.store.release(grant))).isInstanceOf(ReleaseResult.NotHeld.class);
		assertSuccessor(grant);
	}

	/** The pool never hands out the connection of a session that has ended. */
	private void assertSuccessor(Grant former) throws Exception {
		Grant next = soonGranted(this.other, claim(this.lock));
		assertThat(next.storeToken()).isGreaterThan(former.storeToken());
		assertThat(ask(this.store, nonWaiting(this.lock))).isNotInstanceOf(AcquireResult.Acquired.class);
		released(this.other, next);
		released(this.store, soonGranted(this.store, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	private static Claim nonWaiting(LockName lock) {
		return claim(lock).withRemainingWait(Duration.ZERO);
	}

	@Test
	void serverEndsTheSessionOfAPausedHolderAfterItsLease() throws Exception {
		long start = System.nanoTime();
		Grant paused = granted(this.store, lasting(this.lock, Duration.ofMillis(700)));
		Grant next = soonGranted(this.other, claim(this.lock));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(650),
				Duration.ofSeconds(15));
		assertThat(next.storeToken()).isGreaterThan(paused.storeToken());
		assertThat(answer(this.store.confirm(paused))).isFalse();
		assertThat(renewed(this.store, paused)).isInstanceOf(RenewResult.Refused.class);
		assertThat(answer(this.store.release(paused))).isInstanceOf(ReleaseResult.NotHeld.class);
		released(this.other, next);
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	/** The server does not learn that this connection is broken. */
	@Slow
	@Test
	void serverEndsTheSessionOfADisconnectedHolderAfterItsLease() throws Exception {
		Grant lost = granted(this.store, lasting(this.lock, Duration.ofMillis(700)));
		this.wire.stall();
		released(this.other, soonGranted(this.other, claim(this.lock)));
		assertThat(answer(this.store.confirm(lost))).isFalse();
		this.wire.flow();
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Slow
	@Test
	void renewalsKeepASessionLongerThanItsLease() throws Exception {
		Grant grant = granted(this.store, lasting(this.lock, Duration.ofSeconds(5)));
		Awaitility.await()
			.pollInterval(Duration.ofMillis(200))
			.during(Duration.ofSeconds(6))
			.atMost(BOUND)
			.untilAsserted(() -> {
				assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Renewed.class);
				assertThat(ask(this.other, nonWaiting(this.lock))).isInstanceOf(AcquireResult.Contended.class);
			});
		released(this.store, grant);
	}

	@Test
	void lostReplyToAnAttemptReleasesTheLock() throws Exception {
		granted(this.store, claim(LockName.of("first")));
		this.wire.loseNextReplyTo("Acquires the advisory lock");
		Claim claim = claim(this.lock);
		assertThat(ask(this.store, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		released(this.other, soonGranted(this.other, claim(this.lock)));
		released(this.store, soonGranted(this.store, claim));
	}

	@Test
	void lostReplyToAReleaseReleasesTheLock() throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		this.wire.loseNextReplyTo("Releases the advisory lock");
		assertThat(answer(this.store.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(answer(this.store.release(grant))).isInstanceOf(ReleaseResult.NotHeld.class);
		released(this.other, soonGranted(this.other, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	@Test
	void failingLogKeepsNoConnectionAfterALostReply() throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		this.wire.loseNextReplyTo("Releases the advisory lock");
		try (FailingLog log = FailingLog.ofPackage(AdvisoryConnection.class)) {
			assertThat(answer(this.store.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		}
		released(this.other, soonGranted(this.other, claim(this.lock)));
		postgres.awaitNothingLeft(this.store, this.pool);
	}

	/** The end of the longest lifetime of a connection evicts it in the same way. */
	@Test
	void connectionThatItsPoolEvictsKeepsItsLock() throws Exception {
		Grant grant = granted(this.store, claim(this.lock));
		this.pool.getHikariPoolMXBean().softEvictConnections();
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Renewed.class);
		assertThat(ask(this.other, nonWaiting(this.lock))).isInstanceOf(AcquireResult.Contended.class);
		released(this.store, grant);
		Awaitility.await().atMost(BOUND).until(() -> this.pool.getHikariPoolMXBean().getTotalConnections() == 0);
	}

	@Test
	void readerKeepsItsLockWhenTheSessionOfAnotherEnds() throws Exception {
		Grant ended = granted(this.store, shared(Duration.ofMillis(500)));
		Grant staying = granted(this.other, shared(Duration.ofSeconds(30)));
		Awaitility.await().atMost(BOUND).until(() -> answer(this.other.find(this.lock)).holders().size() == 1);
		assertThat(answer(this.store.confirm(ended))).isFalse();
		assertThat(answer(this.other.confirm(staying))).isTrue();
		assertThat(ask(this.store, nonWaiting(this.lock))).isInstanceOf(AcquireResult.Contended.class);
		released(this.other, staying);
	}

	private Claim shared(Duration lease) {
		return new Claim(this.lock, OwnerId.random(), LockMode.SHARED, lease, true, Duration.ZERO, false);
	}

	@Test
	void closeEndsAllSessions() throws Exception {
		granted(this.store, claim(this.lock));
		granted(this.other, claim(LockName.of("other")));
		assertThat(ask(this.store, claim(LockName.of("other")))).isInstanceOf(AcquireResult.Contended.class);
		this.store.close();
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
		released(this.other, soonGranted(this.other, claim(this.lock)));
	}

	/** Long before the lease expires, and before the next renewal. */
	@Test
	void checkOfAHolderWhoseSessionHasEndedFails() {
		try (LockEngine engine = new LockEngine(new LockBackends(List.of(this.store), "jdbc"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of())) {
			LockHandle held = engine.acquire(LockRequest.forLock(this.lock).leaseTime(Duration.ofMinutes(5)).build());
			held.assertHeld();
			postgres.terminateHolders();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::assertHeld);
			held.close();
		}
		postgres.awaitNothingLeft(this.store, this.pool);
	}

}
