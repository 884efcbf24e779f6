package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.LeaseOption;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonRefused;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link EtcdLockBackend} that are specific to etcd: leases and sessions,
 * watches, failing members, logins.
 */
class EtcdLockBackendTests extends OneEtcdServer {

	private final TcpProxy wire = TcpProxy.to(server.port());

	private final EtcdLockBackend backend = backend("http://127.0.0.1:" + this.wire.port());

	private final List<EtcdLockBackend> others = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.backend.close();
		closeOthers();
		this.wire.close();
	}

	private void closeOthers() {
		this.others.forEach(EtcdLockBackend::close);
		this.others.clear();
	}

	private static EtcdLockBackend backend(String... endpoints) {
		return backend(BOUND, endpoints);
	}

	private static EtcdLockBackend backend(Duration responseTimeout, String... endpoints) {
		return new EtcdLockBackend(Client.builder().endpoints(endpoints),
				new EtcdLockOptions(NAMESPACE, responseTimeout));
	}

	private EtcdLockBackend anotherOn(String... endpoints) {
		EtcdLockBackend other = backend(endpoints);
		this.others.add(other);
		return other;
	}

	/** Returns a backend for servers that may not respond. */
	private EtcdLockBackend impatientOn(String... endpoints) {
		EtcdLockBackend other = backend(Duration.ofSeconds(2), endpoints);
		this.others.add(other);
		return other;
	}

	@Test
	void timeoutMayBeLongerThanTheClientCanCount() {
		EtcdLockBackend patient = new EtcdLockBackend(Client.builder().endpoints(server.endpoint()),
				new EtcdLockOptions(NAMESPACE, Duration.ofDays(366)));
		this.others.add(patient);
		assertThatNoException().isThrownBy(patient::verify);
	}

	@Test
	void claimsThatAreRenewedShareOneLease() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			grants.add(granted(this.backend, claim(LockName.of("stock", "n" + i))));
		}
		assertThat(keys("locks/")).hasSize(20)
			.extracting(KeyValue::getLease)
			.containsOnly(keys("sessions/").iterator().next().getLease());
		for (Grant grant : grants) {
			released(this.backend, grant);
		}
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void claimThatIsNotRenewedHasALeaseOfItsOwn() throws Exception {
		long start = System.nanoTime();
		Grant grant = granted(this.backend, lasting(LOCK, Duration.ofMillis(2_500)));
		assertLeaseOf(Duration.ofSeconds(3), start, grant);
		long lease = key().getLease();
		released(this.backend, grant);
		assertThat(
				inspection.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT).get(10, TimeUnit.SECONDS).getTTL())
			.isNegative();
	}

	@Slow
	@Test
	void lostLockStaysClosedForTheLockDelayAfterAStop() throws Exception {
		LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), "etcd"),
				settings().lockDelay(Duration.ofSeconds(20)).shutdownTimeout(Duration.ZERO).build(),
				TransactionBoundary.NONE, List.of());
		CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
		try (LockHandle handle = engine
			.acquire(LockRequest.forLock(LOCK).renew(false).leaseTime(Duration.ofSeconds(2)).build())) {
			handle.onLost(lost::complete);
			assertThat(lost.get(10, TimeUnit.SECONDS).cause()).isEqualTo(LossCause.EXPIRED);
			engine.close();
			this.backend.close();
			assertThat(keys("locks/")).hasSize(1);
			deleteKey();
		}
	}

	@Test
	void leaseExtendedByEtcdIsAccepted() throws Exception {
		long start = System.nanoTime();
		Grant grant = granted(this.backend, lasting(LOCK, Duration.ofMillis(100)));
		assertLeaseOf(Duration.ofSeconds(2), start, grant);
		answer(this.backend.release(grant));
	}

	/**
	 * Asserts that a lease lasts as long as etcd said, except for the drift of its clock.
	 */
	private static void assertLeaseOf(Duration granted, long start, Grant grant) {
		Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
		Duration tolerance = Duration.ofMillis(500);
		assertThat(grant.lease()).isBetween(granted.minus(elapsed).minus(tolerance), granted);
	}

	@Test
	void tokenIsTheRevisionThatCreatedTheKey() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		assertThat(key().getCreateRevision()).isEqualTo(grant.storeToken());
		released(this.backend, grant);
	}

	@Test
	void releaseNotifiesOnlyTheNextWaiter() throws Exception {
		EtcdLockBackend other = anotherOn(server.endpoint());
		Grant holder = granted(this.backend, claim(LOCK));
		List<Claim> waiting = List.of(claim(LOCK), claim(LOCK), claim(LOCK));
		List<CompletionStage<?>> signals = new ArrayList<>();
		for (Claim claim : waiting) {
			signals.add(refused(other, claim));
		}
		released(this.backend, holder);
		awaitSignal(signals.get(0));
		released(other, granted(other, waiting.get(0)));
		awaitSignal(signals.get(1));
		assertThat(signals.get(2).toCompletableFuture()).isNotDone();
		answer(other.abandon(waiting.get(1)));
		answer(other.abandon(waiting.get(2)));
	}

	@Test
	void sessionThatEtcdHasEndedIsReplacedInTheSameAttempt() throws Exception {
		released(this.backend, granted(this.backend, claim(LOCK)));
		endSessions();
		released(this.backend, granted(this.backend, claim(LOCK)));
	}

	@Slow
	@Test
	void sessionIsWatchedAgainSoonAfterAnOutage() throws Exception {
		Claim claim = claim(LOCK).withLeaseTime(Duration.ofMinutes(5));
		Grant grant = granted(this.backend, claim);
		server.kill();
		server.start();
		soonRenewed(this.backend, grant);
		endSessions();
		Awaitility.await("the revocation").atMost(BOUND).until(() -> grant.revoked().toCompletableFuture().isDone());
	}

	@Test
	void waiterOfAnEndedSessionEnqueuesAgainAndAcquires() throws Exception {
		Grant holder = granted(this.backend, lasting(LOCK, Duration.ofSeconds(20)));
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(this.backend, waiting);
		endSessions();
		awaitSignal(signal);
		refused(this.backend, waiting);
		released(this.backend, holder);
		Grant grant = soonGranted(this.backend, waiting);
		assertThat(grant.revoked().toCompletableFuture()).isNotDone();
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, grant);
	}

	@Test
	void deletedKeyIsNotRenewedWithItsLease() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		deleteKey();
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(answer(this.backend.release(grant))).isInstanceOf(ReleaseResult.NotHeld.class);
	}

	@Test
	void moreGrantsThanATransactionHoldsAreRenewed() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < EtcdCalls.OPERATIONS + 30; i++) {
			grants.add(granted(this.backend, claim(LockName.of("stock", "n" + i))));
		}
		assertThat(answer(this.backend.renew(grants))).hasSameSizeAs(grants)
			.allMatch(RenewResult.Renewed.class::isInstance);
		for (Grant grant : grants) {
			released(this.backend, grant);
		}
	}

	@Slow
	@Test
	void requestExecutedLateByASilentServerLeavesNothing() throws Exception {
		EtcdLockBackend impatient = impatientOn(server.endpoint());
		released(impatient, granted(impatient, claim(LOCK)));
		Claim claim = claim(LOCK);
		server.pause();
		try {
			assertThat(ask(impatient, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		}
		finally {
			server.resume();
		}
		Awaitility.await().atMost(BOUND).ignoreExceptions().untilAsserted(() -> answer(impatient.abandon(claim)));
		Awaitility.await().atMost(BOUND).until(() -> keys("locks/").isEmpty());
	}

	@Test
	void waiterAcquiresAfterACompactionAndABrokenConnection() throws Exception {
		EtcdLockBackend other = anotherOn(server.endpoint());
		Grant holder = granted(other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.backend, waiting);
		long revision = inspection.getKVClient()
			.put(bytes("/elsewhere"), bytes("x"))
			.get(10, TimeUnit.SECONDS)
			.getHeader()
			.getRevision();
		this.wire.cut();
		released(other, holder);
		inspection.getKVClient().compact(revision).get(10, TimeUnit.SECONDS);
		released(this.backend, soonGranted(this.backend, waiting));
	}

	@Slow
	@Test
	void holdAndWaiterSurviveALeaderFailure() throws Exception {
		List<EtcdServer> members = EtcdServer.cluster(3);
		try {
			EtcdLockBackend one = impatientOn(endpoints(members));
			EtcdLockBackend two = impatientOn(endpoints(members));
			Grant holder = soonGranted(one, claim(LOCK));
			Claim waiting = claim(LOCK);
			soonRefused(two, waiting);
			EtcdServer leader = EtcdServer.leader(members);
			leader.kill();
			soonRenewed(one, holder);
			soonReleased(one, holder);
			Grant next = soonGranted(two, waiting);
			assertThat(next.storeToken()).isGreaterThan(holder.storeToken());
			leader.start();
			soonReleased(two, next);
		}
		finally {
			closeOthers();
			members.forEach(EtcdServer::close);
		}
	}

	@Slow
	@Test
	void withoutAMajorityNothingIsGrantedAndAttemptsFailFast() throws Exception {
		List<EtcdServer> members = EtcdServer.cluster(3);
		try {
			EtcdLockBackend one = impatientOn(endpoints(members));
			Grant holder = soonGranted(one, claim(LOCK));
			members.get(1).pause();
			members.get(2).pause();
			assertThat(ask(one, claim(LOCK))).isInstanceOf(AcquireResult.Indeterminate.class);
			assertThat(renewed(one, holder)).isInstanceOf(RenewResult.Indeterminate.class);
			members.get(1).resume();
			soonReleased(one, holder);
		}
		finally {
			closeOthers();
			members.forEach(EtcdServer::close);
		}
	}

	@Slow
	@Test
	void loginForgottenByTheServerIsRenewedAndTheHoldKept() throws Exception {
		EtcdServer guarded = EtcdServer.started();
		try {
			guarded.enableAuthentication("shop", "secret", "/holdfast/shop/");
			EtcdLockBackend one = new EtcdLockBackend(
					Client.builder().endpoints(guarded.endpoint()).user(bytes("shop")).password(bytes("secret")),
					new EtcdLockOptions("shop", Duration.ofSeconds(1)));
			this.others.add(one);
			Grant holder = soonGranted(one, claim(LOCK));
			// the server keeps its login tokens only in memory
			guarded.restart();
			soonRenewed(one, holder);
			soonReleased(one, holder);
		}
		finally {
			closeOthers();
			guarded.close();
		}
	}

	@Test
	void refusedAccessIsAnErrorAndNotRetried() {
		EtcdServer guarded = EtcdServer.started();
		try {
			guarded.enableAuthentication("shop", "secret", "/holdfast/shop/");
			EtcdLockBackend one = backend(guarded.endpoint());
			this.others.add(one);
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> ask(one, claim(LOCK)))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContainingAll("stock:42", "backend etcd", "user name is empty", "/holdfast/shop/");
		}
		finally {
			closeOthers();
			guarded.close();
		}
	}

	private static String[] endpoints(List<EtcdServer> members) {
		return members.stream().map(EtcdServer::endpoint).toArray(String[]::new);
	}

}
