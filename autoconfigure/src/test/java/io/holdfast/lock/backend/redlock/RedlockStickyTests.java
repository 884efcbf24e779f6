package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.StickyEngineCases;
import io.holdfast.lock.backend.StickyInstance;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.StickyInstance.LOCK;
import static io.holdfast.lock.backend.StickyInstance.LONG;
import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines at five nodes, some of which fail.
 */
class RedlockStickyTests extends FiveNodes implements StickyEngineCases {

	private static final Pattern SCRIPT_CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

	private StickyInstance one;

	private StickyInstance other;

	@BeforeEach
	void startInstances() {
		this.one = started(ports(0, 1, 2, 3, 4), LONG);
		this.other = started(ports(0, 1, 2, 3, 4), Duration.ZERO);
	}

	private StickyInstance started(List<Integer> ports, Duration sticky) {
		RedlockLockBackend backend = open(ports, OPTIONS);
		TestNodes.connect(backend);
		awaitNotifications(backend);
		return StickyInstance.of(backend, sticky);
	}

	/** A claim subscribes where that has failed before. */
	private void awaitNotifications(RedlockLockBackend backend) {
		Awaitility.await().atMost(BOUND).pollDelay(Duration.ZERO).until(() -> {
			get(backend.release(soonGranted(backend, sticky())));
			return backend.listening() == 5;
		});
	}

	@AfterEach
	void closeEngines() {
		this.one.engine().close();
		this.other.engine().close();
		Stream.of(this.one, this.other)
			.map((instance) -> (RedlockLockBackend) instance.backend())
			.forEach((backend) -> assertThat(backend.waiting()).isZero());
	}

	@Override
	public StickyInstance first() {
		return this.one;
	}

	@Override
	public StickyInstance second() {
		return this.other;
	}

	/**
	 * Returns the keys on a majority: a release is confirmed when a majority responds.
	 */
	@Override
	public Collection<?> left() {
		Map<String, Long> nodesOfEachKey = keys(LOCK.id())
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
		return nodesOfEachKey.entrySet().stream().filter((entry) -> entry.getValue() > 2).toList();
	}

	private static Stream<String> keys(String lock) {
		return nodes.all()
			.stream()
			.flatMap((node) -> node.keys("*{" + lock + "}:part*").stream())
			.filter((key) -> !key.endsWith("-token"));
	}

	/** A node that misses a grant costs a further round, in which nodes agree again. */
	@Test
	void twoRequestsToEachNodeServeManyPairs() {
		assertThat(requestsOfPairs(first(), 1_000)).isBetween(2L * 5, 3L * 5);
	}

	/** A late node gets no attempt after a majority has decided, and then no release. */
	@Test
	void eachPairTakesTwoRequestsToEachNodeByDefault() {
		assertThat(requestsOfPairs(second(), 20)).isBetween(20L * 2 * 3, 20L * 3 * 5);
	}

	/**
	 * Counts the scripts at all nodes, including the last release. The nodes know the
	 * scripts, and agree on the last token.
	 */
	private long requestsOfPairs(StickyInstance instance, int pairs) {
		nodes.each((node) -> {
			Stream.of(RedlockScripts.ACQUIRE, RedlockScripts.AGREE, RedlockScripts.RELEASE)
				.forEach((script) -> node.ask("script", "load", script.text()));
			node.ask("set", "test:{" + LOCK.id() + "}:part-token", "4000000000000000");
			node.ask("config", "resetstat");
		});
		for (int i = 0; i < pairs; i++) {
			instance.token();
		}
		instance.engine().close();
		Awaitility.await().atMost(BOUND).until(() -> keys(LOCK.id()).findAny().isEmpty());
		return nodes.all()
			.stream()
			.flatMap((node) -> SCRIPT_CALLS.matcher(node.ask("info", "commandstats")).results())
			.map((MatchResult calls) -> Long.parseLong(calls.group(1)))
			.reduce(0L, Long::sum);
	}

	@Test
	void waiterGetsAnIdleLeaseAfterItsHolderHasReleasedIt() {
		FencingToken first = first().token();
		FencingToken before = first().token();
		assertThat(before).as("token of a hold that took the lease over").isGreaterThan(first);
		FencingToken after = second().token();
		assertThat(after).isGreaterThan(before);
		assertThat(first().token()).isGreaterThan(after);
	}

	@Test
	void twoDeadNodesStopNoDemand() {
		FencingToken before = first().token();
		kill(3, 4);
		assertThat(second().token()).isGreaterThan(before);
		first().token();
		callerThatDoesNotWaitGetsAnIdleLease();
	}

	@Slow
	@Test
	void twoSilentNodesStopNoDemand() {
		FencingToken before = first().token();
		nodes.get(0).pause();
		nodes.get(1).pause();
		assertThat(second().token()).isGreaterThan(before);
	}

	@Test
	void leaseOnABareMajorityIsDemanded() {
		kill(3, 4);
		FencingToken before = first().token();
		start(3, 4);
		assertThat(second().token()).isGreaterThan(before);
		awaitNoLock();
	}

	/** Three nodes that know the lease are left. */
	@Slow
	@Test
	void emptyNodeStopsNoDemand() {
		FencingToken before = first().token();
		nodes.get(0).restart();
		kill(4);
		assertThat(second().token()).isGreaterThan(before);
	}

	@Slow
	@Test
	void leaseOfASilentInstanceEndsWithItsTime() {
		List<TcpProxy> wires = nodes.all().stream().map((node) -> TcpProxy.to(node.port())).toList();
		StickyInstance silent = started(wires.stream().map(TcpProxy::port).toList(), LONG);
		LockRequest shortLease = LockRequest.forLock(LOCK).waitTime(BOUND).leaseTime(Duration.ofSeconds(2)).build();
		FencingToken before = silent.engine().execute(shortLease, LockHandle::fencingToken);
		wires.forEach(TcpProxy::stall);
		assertThat(second().token()).isGreaterThan(before);
		wires.forEach(TcpProxy::flow);
		silent.engine().close();
		wires.forEach(TcpProxy::close);
	}

	@Test
	void leaseIsNotStickyUntilAMajorityNotifiesItsInstance() throws Exception {
		RedlockLockBackend backend = open(ports(0, 1, 2, 3, 4), OPTIONS);
		Grant grant = granted(backend, sticky());
		assertThat(grant.sticky()).isFalse();
		get(backend.release(grant));
		awaitNotifications(backend);
		Grant next = soonGranted(backend, sticky());
		assertThat(next.sticky()).isTrue();
		get(backend.release(next));
		assertThat(backend.waiting()).isZero();
	}

	private Claim sticky() {
		return new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE, LONGEST_LEASE, true, Duration.ZERO, false,
				true);
	}

}
