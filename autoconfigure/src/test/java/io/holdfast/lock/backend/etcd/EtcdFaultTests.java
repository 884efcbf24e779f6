package io.holdfast.lock.backend.etcd;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
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
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for problems that others have reported with locks in etcd, and with etcd itself.
 */
class EtcdFaultTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final Pattern LEASE = Pattern.compile("\"ID\":");

	private final FaultyCalls calls = new FaultyCalls();

	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	private final Set<Long> threadsOfOthers = LongStream.of(THREADS.getAllThreadIds())
		.boxed()
		.collect(Collectors.toSet());

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void closeAll() throws Exception {
		this.threads.shutdownNow();
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	private <T extends AutoCloseable> T open(T resource) {
		this.opened.add(resource);
		return resource;
	}

	private EtcdServer server() {
		return open(EtcdServer.started());
	}

	private List<EtcdServer> cluster() {
		List<EtcdServer> members = EtcdServer.cluster(3);
		members.forEach(this::open);
		return members;
	}

	private EtcdLockBackend backend(String... endpoints) {
		return backend(Duration.ofSeconds(2), endpoints);
	}

	private EtcdLockBackend backend(Duration responseTimeout, String... endpoints) {
		return open(new EtcdLockBackend(Client.builder().endpoints(endpoints).interceptor(this.calls),
				new EtcdLockOptions("shop", responseTimeout)));
	}

	private EtcdLockBackend backend(TcpProxy wire) {
		return backend("http://" + ServerProcess.HOST + ":" + wire.port());
	}

	private LockEngine engine(EtcdLockBackend backend) {
		return open(new LockEngine(new LockBackends(List.of(backend), "etcd"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of()));
	}

	private static LockRequest request(LockName lock, Duration waitTime) {
		return LockRequest.forLock(lock).waitTime(waitTime).leaseTime(Duration.ofSeconds(60)).build();
	}

	@Slow
	@ParameterizedTest
	@EnumSource
	void clientsBackOffWhileEtcdIsDownAndRecoverSoon(Outage outage) throws Exception {
		EtcdServer server = server();
		TcpProxy wire = open(TcpProxy.to(server.port()));
		LockEngine holding = engine(backend(wire));
		LockEngine waiting = engine(backend(wire));
		List<LockRequest> requests = IntStream.range(0, 10)
			.mapToObj((i) -> request(LockName.of("n" + i), Duration.ofMinutes(2)))
			.toList();
		List<LockHandle> held = requests.stream().map(holding::acquire).toList();
		List<CompletableFuture<Void>> turns = requests.stream()
			.map((request) -> CompletableFuture.runAsync(() -> waiting.acquire(request).close(), this.threads))
			.toList();
		Awaitility.await().until(() -> queuedClaims(server) == 20);
		outage.begin(server);
		assertAllBackOff(wire);
		outage.end(server);
		held.forEach(LockHandle::close);
		assertThat(CompletableFuture.allOf(turns.toArray(CompletableFuture[]::new))).succeedsWithin(BOUND);
	}

	/** Asserts bounds far above the need and far below the load of a loop. */
	private void assertAllBackOff(TcpProxy wire) {
		Duration window = Duration.ofSeconds(5);
		this.calls.sent();
		int connections = wire.connections();
		long busy = busyNanos();
		Awaitility.await().timeout(window.multipliedBy(2)).pollDelay(window).until(() -> true);
		assertThat(this.calls.sent()).as("requests of 10 holders and 10 waiters").isLessThan(500);
		assertThat(wire.connections() - connections).as("connections").isLessThan(50);
		assertThat(Duration.ofNanos(busyNanos() - busy)).as("time of processors").isLessThan(window.dividedBy(4));
	}

	/** Returns the CPU time of this test's threads, not of those left by other tests. */
	private long busyNanos() {
		return LongStream.of(THREADS.getAllThreadIds())
			.filter((id) -> !this.threadsOfOthers.contains(id))
			.map((id) -> Math.max(0, THREADS.getThreadCpuTime(id)))
			.sum();
	}

	@Slow
	@ParameterizedTest
	@ValueSource(longs = { 9_223_372_036L, Long.MAX_VALUE, 0, -1, Long.MIN_VALUE })
	void invalidRemainingTimeExtendsNoLease(long seconds) throws Exception {
		EtcdLockBackend backend = backend(server().endpoint());
		this.calls.change((answer) -> (answer instanceof LeaseGrantResponse grant)
				? grant.toBuilder().setTTL(seconds).build() : answer);
		assertThat(ask(backend, claim(LOCK))).satisfies(EtcdFaultTests::lastsNoLongerThanRequested);
		assertThat(ask(backend, lasting(LockName.of("another"), Duration.ofSeconds(20))))
			.satisfies(EtcdFaultTests::lastsNoLongerThanRequested);
	}

	private static void lastsNoLongerThanRequested(AcquireResult result) {
		if (result instanceof AcquireResult.Acquired acquired) {
			assertThat(acquired.grant().lease()).isBetween(Duration.ofSeconds(1), acquired.grant().claim().leaseTime());
		}
		else {
			assertThat(result).isInstanceOfSatisfying(AcquireResult.Indeterminate.class,
					(unknown) -> assertThat(unknown.cause()).hasMessageContaining("invalid lease duration"));
		}
	}

	@Slow
	@ParameterizedTest
	@ValueSource(longs = { 9_223_372_036L, Long.MAX_VALUE, 0, -1, Long.MIN_VALUE })
	void renewalWithAnInvalidTimeExtendsNoLease(long seconds) throws Exception {
		EtcdLockBackend backend = backend(server().endpoint());
		Grant grant = soonGranted(backend, claim(LOCK));
		this.calls.change((answer) -> (answer instanceof LeaseKeepAliveResponse alive)
				? alive.toBuilder().setTTL(seconds).build() : answer);
		RenewResult result = renewed(backend, grant);
		if (seconds > 0) {
			assertThat(result).isInstanceOfSatisfying(RenewResult.Renewed.class,
					(renewed) -> assertThat(renewed.lease()).isLessThanOrEqualTo(grant.claim().leaseTime()));
		}
		else {
			assertThat(result).isNotInstanceOf(RenewResult.Renewed.class);
		}
	}

	@Slow
	@Test
	void partitionedMemberIsSkipped() throws Exception {
		List<EtcdServer> members = cluster();
		EtcdServer cutOff = EtcdServer.leader(members);
		List<EtcdServer> others = members.stream().filter((member) -> member != cutOff).toList();
		String[] endpoints = endpoints(List.of(cutOff, others.get(0), others.get(1)));
		EtcdLockBackend one = backend(endpoints);
		EtcdLockBackend two = backend(endpoints);
		Grant holder = granted(one, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(two, waiting);
		cutOff.separateFrom(others);
		Future<String> health = this.threads.submit(() -> cutOff.ask("/health"));
		soonRenewed(one, holder);
		soonReleased(one, holder);
		soonReleased(two, soonGranted(two, waiting));
		assertThat(health).as("health of a member without a majority")
			.failsWithin(BOUND)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(IOException.class);
	}

	/** The leases are so long that none expires while the test runs. */
	@Slow
	@ParameterizedTest
	@CsvSource({ "0,false", "1,false", "1,true", "2,false", "2,true", "3,false", "3,true" })
	void attemptThatFailsAtAnyStepLeavesNoLease(int step, boolean carriedOut) throws Exception {
		EtcdServer server = server();
		LockEngine engine = engine(backend(server.endpoint()));
		this.calls.fail(step, carriedOut);
		acquireAndRelease(engine, once(Duration.ofMinutes(5), false));
		Awaitility.await().atMost(BOUND).until(() -> leases(server) == 0);
	}

	@Slow
	@Test
	void leaseOfALostGrantExpires() throws Exception {
		EtcdServer server = server();
		LockEngine engine = engine(backend(server.endpoint()));
		this.calls.fail(0, true);
		acquireAndRelease(engine, once(Duration.ofSeconds(2), false));
		Awaitility.await().atMost(BOUND).until(() -> leases(server) == 0);
	}

	@Slow
	@ParameterizedTest
	@CsvSource({ "0,false", "1,false", "1,true", "2,false", "2,true", "3,false", "3,true" })
	void failedAttemptOfASessionLeavesOnlyTheSession(int step, boolean carriedOut) throws Exception {
		EtcdServer server = server();
		EtcdLockBackend backend = backend(server.endpoint());
		this.calls.fail(step, carriedOut);
		try (LockEngine engine = engine(backend)) {
			acquireAndRelease(engine, once(Duration.ofMinutes(5), true));
			Awaitility.await().atMost(BOUND).until(() -> leases(server) <= 1 && queuedClaims(server) == 0);
		}
		backend.close();
		assertThat(leases(server)).isZero();
	}

	@Slow
	@Test
	void callerOfADeadEtcdLearnsWhatToDo() throws Exception {
		EtcdServer server = server();
		LockEngine engine = engine(backend(server.endpoint()));
		engine.acquire(request(LOCK, BOUND)).close();
		server.kill();
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> engine.acquire(request(LOCK, Duration.ofSeconds(2))))
			.withMessageContaining("did not confirm whether it granted the lock")
			.withMessageMatching(
					".*The last attempt failed: etcd could not be used: .*[^.]\\. Check that it is running( and responds within 'distributed-lock.response-timeout')?, its endpoints, and whether it uses TLS\\.");
	}

	private static LockRequest once(Duration lease, boolean renew) {
		return LockRequest.forLock(LOCK).waitTime(Duration.ZERO).leaseTime(lease).renew(renew).build();
	}

	private static void acquireAndRelease(LockEngine engine, LockRequest request) {
		try {
			engine.acquire(request).close();
		}
		catch (LockBackendException ex) {
			assertThat(ex).hasMessageContaining("did not confirm whether it granted the lock");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void releaseWithALostAnswerIsNoLoss(boolean renewed) throws Exception {
		EtcdLockBackend backend = backend(BOUND, server().endpoint());
		Grant grant = granted(backend, renewed ? claim(LOCK) : lasting(LOCK, Duration.ofMinutes(5)));
		this.calls.fail(0, true);
		assertThat(answer(backend.release(grant))).isNotInstanceOf(ReleaseResult.NotHeld.class);
	}

	@Test
	void timedOutWaiterLeavesNoQueueNode() throws Exception {
		EtcdServer server = server();
		Grant holder = granted(backend(BOUND, server.endpoint()), claim(LOCK));
		LockEngine engine = engine(backend(BOUND, server.endpoint()));
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> engine.acquire(request(LOCK, Duration.ofMillis(500))));
		Awaitility.await().atMost(BOUND).until(() -> queuedClaims(server) == 1);
		assertThat(holder.lease()).isGreaterThan(BOUND);
	}

	@Slow
	@Test
	void waitForADeadHolderIsBoundedDespiteALeaderChange() throws Exception {
		List<EtcdServer> members = cluster();
		EtcdLockBackend dead = backend(endpoints(members));
		LockEngine engine = engine(backend(endpoints(members)));
		Duration lease = Duration.ofSeconds(4);
		granted(dead, lasting(LOCK, lease));
		EtcdServer.leader(members).pause();
		long start = System.nanoTime();
		engine.acquire(request(LOCK, Duration.ofMinutes(1))).close();
		Duration elections = Duration.ofSeconds(5);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(lease.multipliedBy(2).plus(elections));
	}

	private static String[] endpoints(List<EtcdServer> members) {
		return members.stream().map(EtcdServer::endpoint).toArray(String[]::new);
	}

	/** Returns the number of claims in wait queues. */
	private static int queuedClaims(EtcdServer server) throws Exception {
		try (Client inspection = Client.builder().endpoints(server.endpoint()).build()) {
			return EtcdLockBackendContractTests.keys(inspection, "/holdfast/shop/locks/").size();
		}
	}

	private static int leases(EtcdServer server) throws Exception {
		HttpRequest list = HttpRequest.newBuilder(URI.create(server.endpoint() + "/v3/lease/leases"))
			.POST(HttpRequest.BodyPublishers.ofString("{}"))
			.build();
		String answer = HttpClient.newHttpClient().send(list, HttpResponse.BodyHandlers.ofString()).body();
		return (int) LEASE.matcher(answer).results().count();
	}

	/** How etcd becomes unavailable. */
	enum Outage {

		KILLED, PAUSED;

		void begin(ServerProcess server) {
			if (this == KILLED) {
				server.kill();
			}
			else {
				server.pause();
			}
		}

		void end(ServerProcess server) {
			server.resume();
			server.start();
		}

	}

}
