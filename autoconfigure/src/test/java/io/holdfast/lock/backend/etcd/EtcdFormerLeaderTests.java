package io.holdfast.lock.backend.etcd;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.etcd.jetcd.Client;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SystemSchedulingClock;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a leader that was paused and cut off, and does not know yet that the other
 * members have elected another one. jetcd may send each request to another member.
 */
class EtcdFormerLeaderTests {

	/** Long, because the answer of the former leader counts, even on a busy machine. */
	private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(10);

	private final List<EtcdServer> members = EtcdServer.cluster(3);

	private final EtcdServer former = EtcdServer.leader(this.members);

	private final List<EtcdServer> others = this.members.stream().filter((member) -> member != this.former).toList();

	private final AtomicInteger renewals = new AtomicInteger();

	private final EtcdClient toFormer = connect(List.of(this.former));

	private final EtcdClient toOthers = connect(this.others);

	private final SystemSchedulingClock clock = new SystemSchedulingClock("test-etcd");

	private final EtcdLockBackend backend = new EtcdLockBackend(routed(), "shop", "test", this.clock,
			this.clock::close);

	/**
	 * Returns a client that sends renewals to the former leader, and the rest to others.
	 */
	private EtcdClient routed() {
		return (EtcdClient) Proxy.newProxyInstance(EtcdClient.class.getClassLoader(),
				new Class<?>[] { EtcdClient.class }, (proxy, method, arguments) -> {
					boolean renewal = method.getName().equals("keepAlive");
					Object answer = method.invoke(renewal ? this.toFormer : this.toOthers, arguments);
					return renewal ? ((CompletableFuture<?>) answer).thenApply(this::counted) : answer;
				});
	}

	private Object counted(Object renewal) {
		this.renewals.incrementAndGet();
		return renewal;
	}

	private static EtcdClient connect(List<EtcdServer> members) {
		String[] endpoints = members.stream().map(EtcdServer::endpoint).toArray(String[]::new);
		return JetcdClient.create(Client.builder().endpoints(endpoints), RESPONSE_TIMEOUT);
	}

	@AfterEach
	void closeAll() {
		this.backend.close();
		this.toFormer.close();
		this.members.forEach(EtcdServer::close);
	}

	@Slow
	@Test
	void renewalByAFormerLeaderExtendsNoLease() throws Exception {
		Grant grant = soonGranted(this.backend, claim(LockName.of("stock", "42")));
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Renewed.class);
		this.former.separateFrom(this.others);
		this.former.pause();
		Awaitility.await().atMost(BOUND).until(() -> this.others.stream().anyMatch(EtcdServer::isLeader));
		this.renewals.set(0);
		CompletableFuture<RenewResult> late = this.backend.renew(List.of(grant))
			.thenApply((results) -> results.get(0))
			.toCompletableFuture();
		this.former.resume();
		assertThat(late).succeedsWithin(BOUND).isInstanceOf(RenewResult.Indeterminate.class);
		assertThat(this.renewals).as("renewals by the former leader").hasPositiveValue();
		EtcdServer.reunite(this.members);
		soonReleased(this.backend, grant);
	}

}
