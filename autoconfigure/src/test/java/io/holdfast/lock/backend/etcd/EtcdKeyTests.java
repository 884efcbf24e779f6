package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

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
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the names of keys, which claims use one after another: each claim recognizes
 * its own key, and a late request leaves the key of the next claim alone.
 */
class EtcdKeyTests extends LateEtcdBackend {

	/** etcd visits every name since the last compaction when it reads a wait queue. */
	@Slow
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void claimsUseTheSameNameOneAfterAnother(boolean renewed) throws Exception {
		long start = revision();
		for (int i = 0; i < 20; i++) {
			released(this.backend, granted(this.backend, renewed ? claim(LOCK) : lasting(LOCK, Duration.ofMinutes(1))));
		}
		assertThat(namesSince(start)).hasSize(1);
	}

	@Test
	void rejectedAndAbandonedClaimsUseTheSameNameOneAfterAnother() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		long start = revision();
		for (int i = 0; i < 10; i++) {
			Claim waiting = claim(LOCK);
			refused(this.backend, waiting);
			answer(this.backend.abandon(waiting));
			assertThat(ask(this.backend, withoutWait())).isInstanceOf(AcquireResult.Contended.class);
		}
		assertThat(namesSince(start)).hasSize(1);
		released(this.other, holder);
	}

	/**
	 * An operator has deleted the key of the hold meanwhile. The engine ignores the grant
	 * of the earlier attempt.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void keyThatAnEarlierAttemptCreatesDuringAHoldIsDeleted(boolean renewed) throws Exception {
		Claim claim = claim(LOCK);
		this.client.delayNextAttempt();
		CompletableFuture<AcquireResult> late = this.backend.tryAcquire(claim).toCompletableFuture();
		Awaitility.await().atMost(BOUND).until(this.client::holdsBack);
		Grant grant = granted(this.backend, claim);
		deleteKey();
		assertThat(this.client.carryOut()).isEqualTo(1);
		answer(late);
		if (renewed) {
			assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Refused.class);
		}
		else {
			assertThat(answer(this.backend.release(grant))).isInstanceOf(ReleaseResult.NotHeld.class);
		}
		assertThat(keys("locks/")).isEmpty();
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

	private static Claim withoutWait() {
		return new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofMinutes(1), true, Duration.ZERO, false);
	}

	@Test
	void lateReleaseLeavesTheNextClaimAlone() throws Exception {
		Grant first = granted(this.backend, claim(LOCK));
		this.client.holdBackNextDeletion();
		assertThat(answer(this.backend.release(first))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(answer(this.backend.release(first))).isInstanceOf(ReleaseResult.Released.class);
		Grant second = granted(this.backend, claim(LOCK));
		ByteSequence name = key().getKey();
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(key().getKey()).isEqualTo(name);
		assertThat(renewed(this.backend, second)).isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, second);
	}

	@Test
	void waiterNoticesThatItsPredecessorIsAnotherClaimWithTheSameName() throws Exception {
		EtcdCalls calls = new EtcdCalls(this.client, ROOT);
		Grant first = granted(this.backend, claim(LOCK));
		String name = key().getKey().toString(StandardCharsets.UTF_8);
		long seenAt = revision();
		released(this.backend, first);
		Grant second = granted(this.backend, claim(LOCK));
		assertThat(key().getKey().toString(StandardCharsets.UTF_8)).isEqualTo(name);
		try (KeyWatch watch = KeyWatch.on(calls, this.clock, name, seenAt)) {
			awaitSignal(watch.signal());
		}
		released(this.backend, second);
	}

	@Test
	void attemptWithALostAnswerFindsItsOwnKey() throws Exception {
		released(this.backend, granted(this.backend, claim(LOCK)));
		Claim claim = claim(LOCK);
		this.client.loseNextAnswerToAnAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		long created = key().getCreateRevision();
		Grant grant = granted(this.backend, claim);
		assertThat(grant.storeToken()).isEqualTo(created);
		assertThat(keys("locks/")).hasSize(1);
		released(this.backend, grant);
	}

	@Test
	void abandonedAttemptWithALostAnswerLeavesNoKey() throws Exception {
		released(this.backend, granted(this.backend, claim(LOCK)));
		Claim claim = claim(LOCK);
		this.client.loseNextAnswerToAnAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.backend.abandon(claim));
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void keyOfAnotherClaimIsNeitherUsedNorDeleted() throws Exception {
		Grant first = granted(this.backend, claim(LOCK));
		ByteSequence name = key().getKey();
		released(this.backend, first);
		put(name, "another claim");
		Claim waiting = claim(LOCK);
		CompletionStage<?> signal = refused(this.backend, waiting);
		assertThat(keys("locks/")).hasSize(2);
		deleteKey(name);
		awaitSignal(signal);
		released(this.backend, granted(this.backend, waiting));
	}

	@Test
	void retainedKeyIsNotUsedAgain() throws Exception {
		Grant first = granted(this.backend, claim(LOCK));
		assertThat(answer(this.backend.retain(first, Duration.ofMinutes(5)))).isTrue();
		ByteSequence name = key().getKey();
		Claim waiting = claim(LOCK);
		refused(this.backend, waiting);
		assertThat(keys("locks/")).hasSize(2);
		deleteKey(name);
		released(this.backend, granted(this.backend, waiting));
	}

	@Test
	void forcedReleaseLeavesTheNextHolderAlone() throws Exception {
		Grant first = granted(this.backend, claim(LOCK));
		LockState.Holder holder = answer(this.other.find(LOCK)).holders().get(0);
		assertThat(holder.ownerId()).isEqualTo(first.claim().owner().value());
		released(this.backend, first);
		Grant second = granted(this.backend, claim(LOCK));
		answer(this.other.revoke(LOCK, holder));
		assertThat(renewed(this.backend, second)).isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, second);
	}

	/** Instances of both versions run together during a rolling update. */
	@Test
	void holderOfAnEarlierVersionIsFoundAndReleased() throws Exception {
		OwnerId owner = OwnerId.random();
		Claim claim = claim(LOCK);
		ByteSequence name = bytes(new EtcdKeys(NAMESPACE, "test").queue(LOCK) + "x-" + owner);
		put(name, "stock:42");
		CompletionStage<?> signal = refused(this.backend, claim);
		LockState state = answer(this.other.find(LOCK));
		assertThat(state.holders()).extracting(LockState.Holder::ownerId).containsExactly(owner.value());
		answer(this.other.revoke(LOCK, state.holders().get(0)));
		awaitSignal(signal);
		released(this.backend, granted(this.backend, claim));
	}

	private static void put(ByteSequence name, String value) throws Exception {
		inspection.getKVClient().put(name, bytes(value), PutOption.DEFAULT).get(10, TimeUnit.SECONDS);
	}

	private static void deleteKey(ByteSequence name) throws Exception {
		inspection.getKVClient().delete(name).get(10, TimeUnit.SECONDS);
	}

	/** Returns the names of all keys of claims that were written after a revision. */
	private static Set<String> namesSince(long revision) throws Exception {
		Set<String> names = ConcurrentHashMap.newKeySet();
		String below = "/holdfast/" + NAMESPACE + "/locks/";
		long end = inspection.getKVClient()
			.put(bytes(below + "end"), bytes(""))
			.get(10, TimeUnit.SECONDS)
			.getHeader()
			.getRevision();
		WatchOption since = WatchOption.builder().isPrefix(true).withRevision(revision + 1).build();
		Set<Long> seen = ConcurrentHashMap.newKeySet();
		try (Watch.Watcher watcher = inspection.getWatchClient()
			.watch(bytes(below), since, (response) -> response.getEvents().forEach((event) -> {
				names.add(event.getKeyValue().getKey().toString(StandardCharsets.UTF_8));
				seen.add(event.getKeyValue().getModRevision());
			}))) {
			Awaitility.await().atMost(BOUND).until(() -> seen.contains(end));
		}
		deleteKey(bytes(below + "end"));
		names.remove(below + "end");
		return names;
	}

}
