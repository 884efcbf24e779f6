package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.etcd.jetcd.ByteSequence;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.isWanted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the demand of sticky leases: what the backend watches, and for how long.
 */
class EtcdDemandTests extends LateEtcdBackend {

	private static Claim sticky() {
		return sticky(Duration.ofMinutes(1));
	}

	private static Claim sticky(Duration remainingWait) {
		return new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true, remainingWait, false,
				true);
	}

	private static Claim withoutWait() {
		return claim(LOCK).withRemainingWait(Duration.ZERO);
	}

	private void assertNothingIsWatched() {
		assertThat(this.client.queueWatches()).isEmpty();
	}

	@Test
	void claimThatDoesNotWaitDemandsTheLeaseOnce() throws Exception {
		Grant idle = granted(this.backend, sticky());
		assertThat(isWanted(idle)).isFalse();
		this.client.awaitQueueWatch();
		assertThat(((Contended) ask(this.other, withoutWait())).demanded()).isTrue();
		assertThat(keys("locks/")).hasSize(1);
		awaitSignal(idle.wanted());
		assertNothingIsWatched();
		released(this.backend, idle);
	}

	@Test
	void repeatedAttemptDoesNotWatchAgain() throws Exception {
		Claim claim = sticky();
		Grant first = granted(this.backend, claim);
		Grant second = granted(this.backend, claim);
		assertThat(this.client.queueWatches()).hasSize(1);
		refused(this.other, claim(LOCK));
		awaitSignal(first.wanted());
		awaitSignal(second.wanted());
		released(this.backend, second);
	}

	@Test
	void leaseThatIsNotStickyIsNotWatched() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		assertNothingIsWatched();
		assertThat(((Contended) ask(this.other, withoutWait())).demanded()).isFalse();
		released(this.backend, grant);
	}

	@Test
	void sharedClaimDemandsTheLease() throws Exception {
		Grant idle = granted(this.backend, sticky());
		this.client.awaitQueueWatch();
		Claim reader = new Claim(LOCK, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), true, Duration.ZERO,
				false);
		assertThat(((Contended) ask(this.backend, reader)).demanded()).isTrue();
		awaitSignal(idle.wanted());
		released(this.backend, idle);
	}

	/** Instances of both versions run together during a rolling update. */
	@Test
	void waiterOfAnEarlierVersionDemandsTheLease() throws Exception {
		Grant idle = granted(this.backend, sticky());
		ByteSequence name = bytes(new EtcdKeys(NAMESPACE, "old").queue(LOCK) + "x-" + OwnerId.random());
		inspection.getKVClient().put(name, bytes("stock:42")).get(10, TimeUnit.SECONDS);
		awaitSignal(idle.wanted());
		released(this.backend, idle);
		inspection.getKVClient().delete(name).get(10, TimeUnit.SECONDS);
	}

	@Test
	void waiterThatCameBeforeTheWatchDemandsTheLease() throws Exception {
		this.client.holdBackQueueWatches();
		Grant idle = granted(this.backend, sticky());
		Claim waiting = claim(LOCK);
		refused(this.other, waiting);
		assertThat(isWanted(idle)).isFalse();
		this.client.carryOut();
		awaitSignal(idle.wanted());
		released(this.backend, idle);
		released(this.other, granted(this.other, waiting));
	}

	/** The watch is established after a change elsewhere, so the queue is read. */
	@Test
	void changeOfAnotherKeyIsNoDemand() throws Exception {
		Grant idle = granted(this.backend, sticky());
		this.client.queueWatches().get(0).created(idle.storeToken() + 1);
		answer(new EtcdCalls(this.client, ROOT).tryAccess());
		assertThat(isWanted(idle)).isFalse();
		assertThat(this.client.queueWatches()).hasSize(1);
		released(this.backend, idle);
	}

	/** A member that lags behind reports them, and names of keys are used again. */
	@Test
	void eventsBeforeTheGrantAreIgnored() throws Exception {
		Grant idle = granted(this.backend, sticky());
		String key = key().getKey().toString(StandardCharsets.UTF_8);
		EtcdClient.WatchListener watch = this.client.queueWatches().get(0);
		watch.deleted(key, idle.storeToken() - 1);
		watch.written(key, idle.storeToken());
		watch.written(key, idle.storeToken() + 1);
		assertThat(isWanted(idle)).isFalse();
		assertThat(idle.revoked().toCompletableFuture()).isNotDone();
		watch.deleted(key, idle.storeToken() + 1);
		awaitSignal(idle.revoked());
	}

	@Test
	void leaseThatOthersAlreadyWaitForIsNotWatched() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim next = sticky();
		Claim last = claim(LOCK);
		refused(this.backend, next);
		refused(this.other, last);
		released(this.other, holder);
		Grant grant = granted(this.backend, next);
		assertThat(grant.sticky()).isTrue();
		assertThat(isWanted(grant)).isTrue();
		assertNothingIsWatched();
		released(this.backend, grant);
		released(this.other, granted(this.other, last));
	}

	@Test
	void brokenWatchCountsAsDemand() throws Exception {
		Grant idle = granted(this.backend, sticky());
		this.client.queueWatches().get(0).broken();
		awaitSignal(idle.wanted());
		released(this.backend, idle);
	}

	@Test
	void unreadableQueueCountsAsDemand() throws Exception {
		this.client.holdBackQueueWatches();
		Grant idle = granted(this.backend, sticky());
		inspection.getKVClient().put(bytes("/elsewhere"), bytes("")).get(10, TimeUnit.SECONDS);
		this.client.failing(true);
		this.client.carryOut();
		awaitSignal(idle.wanted());
		this.client.failing(false);
		released(this.backend, idle);
	}

	@Test
	void forcedReleaseThroughAnotherInstanceRevokesTheLease() throws Exception {
		Grant idle = granted(this.backend, sticky());
		LockState.Holder holder = answer(this.other.find(LOCK)).holders().get(0);
		assertThat(answer(this.other.revoke(LOCK, holder))).isTrue();
		awaitSignal(idle.revoked());
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
		assertNothingIsWatched();
		assertThat(answer(this.backend.release(idle))).isInstanceOf(ReleaseResult.NotHeld.class);
	}

	@Test
	void forcedReleaseBeforeTheWatchRevokesTheLease() throws Exception {
		this.client.holdBackQueueWatches();
		Grant idle = granted(this.backend, sticky());
		deleteKey();
		this.client.carryOut();
		awaitSignal(idle.revoked());
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

	/**
	 * An earlier attempt may still create another key, and etcd does not respond at the
	 * moment of the forced release. The engine sends nothing for a lost hold.
	 */
	@Test
	void attemptExecutedAfterAForcedReleaseLeavesNoKey() throws Exception {
		Claim claim = sticky();
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		Grant idle = granted(this.backend, claim);
		this.client.awaitQueueWatch();
		this.client.failing(true);
		deleteKey();
		awaitSignal(idle.revoked());
		assertThat(this.client.carryOut()).isOne();
		assertThat(keys("locks/")).hasSize(1);
		this.client.failing(false);
		Awaitility.await().atMost(BOUND).until(() -> this.backend.queueNodes.remembered().isEmpty());
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void endOfALeaseEndsItsWatchAndIsNoLoss() throws Exception {
		Grant first = granted(this.backend, sticky());
		released(this.backend, first);
		assertNothingIsWatched();
		Grant abandoned = granted(this.backend, sticky());
		answer(this.backend.abandon(abandoned.claim()));
		assertNothingIsWatched();
		Grant retained = granted(this.backend, sticky());
		answer(this.backend.retain(retained, Duration.ofMinutes(5)));
		assertNothingIsWatched();
		deleteKey();
		for (Grant grant : new Grant[] { first, abandoned, retained }) {
			assertThat(grant.revoked().toCompletableFuture()).isNotDone();
			assertThat(isWanted(grant)).isFalse();
		}
	}

	/**
	 * jetcd reports a broken watch under the lock that is needed to close another one,
	 * and the thread that learns of it releases an idle lease.
	 */
	@Test
	void leaseIsReleasedWhileTheWatchOfItsSessionIsClosed() throws Exception {
		Grant idle = granted(this.backend, sticky());
		AtomicBoolean sent = new AtomicBoolean();
		this.client.whenKeyIsUnwatched(() -> {
			CompletableFuture<?> release = CompletableFuture.runAsync(() -> this.backend.release(idle));
			sent.set(release.handle((done, failure) -> failure == null)
				.completeOnTimeout(false, BOUND.toMillis(), TimeUnit.MILLISECONDS)
				.join());
		});
		this.backend.close();
		assertThat(sent).isTrue();
	}

	@Test
	void leaseBeyondTheLimitOfWatchesIsNotSticky() throws Exception {
		EtcdCalls calls = new EtcdCalls(this.client, ROOT);
		EtcdKeys keys = new EtcdKeys(NAMESPACE, "test");
		QueueNodes nodes = new QueueNodes(keys);
		EtcdLease lease = answer(EtcdLease.grant(calls, this.clock, 10));
		ClaimResults results = new ClaimResults(calls, keys, this.clock, new Semaphore(1),
				(node) -> CompletableFuture.completedFuture(null),
				(node, revision) -> CompletableFuture.completedFuture(null));
		Claim first = sticky();
		assertThat(grantedBy(results, nodes.of(first), lease).sticky()).isTrue();
		assertThat(grantedBy(results, nodes.of(sticky()), lease).sticky()).isFalse();
		assertThat(grantedBy(results, nodes.of(first), lease).sticky()).isTrue();
		nodes.end(nodes.of(first));
		assertThat(grantedBy(results, nodes.of(sticky()), lease).sticky()).isTrue();
	}

	private Grant grantedBy(ClaimResults results, QueueNode node, EtcdLease lease) throws Exception {
		node.bind(lease, null);
		node.keyExists(1, lease);
		// a watch from an earlier revision sees claims of other tests as a demand
		QueuePosition position = new QueuePosition(1, null, revision(), false);
		return ((Acquired) answer(results.of(node, node.claim, position, this.clock.nanos()))).grant();
	}

	@Test
	void claimsForStickyAndOtherLeasesHaveDifferentNames() {
		KeyNames names = new KeyNames(new EtcdKeys(NAMESPACE, "client"));
		String sticky = names.take(sticky());
		assertThat(sticky).endsWith("/x-client-sticky.0").matches(EtcdKeys::isSticky);
		assertThat(names.take(claim(LOCK))).endsWith("/x-client.0").matches((key) -> !EtcdKeys.isSticky(key));
		names.free(sticky);
		assertThat(names.take(sticky())).isEqualTo(sticky);
	}

}
