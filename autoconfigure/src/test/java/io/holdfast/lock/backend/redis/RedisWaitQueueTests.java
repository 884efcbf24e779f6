package io.holdfast.lock.backend.redis;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the queue of waiters that Redis keeps: positions and notifications.
 */
class RedisWaitQueueTests extends OneRedisServer {

	@Test
	void refusedClaimLeavesAPositionThatExpires() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(8));
		refused(second, waiting);
		assertThat(server.ask("zrange", key("waiters"), "0", "-1")).endsWith("|" + waiting.owner());
		assertThat(Long.parseLong(server.ask("pttl", key("waiters")))).isBetween(4000L, 9000L);
		get(second.abandon(waiting));
		released(first, grant);
	}

	@Test
	void refusedClaimWithoutWaitTimeLeavesNothing() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(5));
		refused(second, waiting);
		Contended last = refused(second, waiting.withRemainingWait(Duration.ZERO));
		assertThat(last.signal().toCompletableFuture()).isNotDone();
		assertThat(server.ask("exists", key("waiters"))).isEqualTo("0");
		released(first, grant);
	}

	/** A claim that waits for days makes an attempt every second. */
	@Test
	void earlierAttemptsOfAWaiterAreNotRetained() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofDays(1));
		WeakReference<Object> earlier = new WeakReference<>(refused(second, waiting).signal());
		Contended latest = refused(second, waiting);
		Awaitility.await().until(() -> {
			System.gc();
			return earlier.get() == null;
		});
		released(first, grant);
		get(latest.signal());
		released(second, granted(second, waiting));
	}

	@Test
	void releaseNotifiesTheFirstWaiter() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim early = claim(Duration.ofSeconds(8));
		refused(second, early);
		Claim later = claim(Duration.ofSeconds(9));
		Contended late = refused(second, later);
		Contended notified = refused(second, early);
		List<String> commands = server.watched(() -> {
			released(first, grant);
			return get(notified.signal());
		});
		assertThat(late.signal().toCompletableFuture()).isNotDone();
		assertThat(commands).filteredOn((line) -> line.contains("\"PUBLISH\"")).hasSize(2);
		Grant next = granted(second, early);
		released(second, next);
		get(late.signal());
		released(second, granted(second, later));
	}

	@Test
	void releaseKeepsTheLockForTheFirstWaiter() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(8));
		Contended notified = refused(second, waiting);
		released(first, grant);
		get(notified.signal());
		refused(first, claim(Duration.ofSeconds(1)));
		assertThat(Long.parseLong(server.ask("pttl", key("lock")))).isBetween(1L, 3000L);
		Grant next = granted(second, waiting);
		assertThat(next.storeToken()).isGreaterThan(grant.storeToken());
		assertThat(Long.parseLong(server.ask("pttl", key("lock")))).isGreaterThan(3000L);
		assertThat(server.ask("zcard", key("waiters"))).isEqualTo("1");
		server.ask("del", key("waiters"));
		released(second, next);
	}

	@Test
	void withdrawnWaiterReleasesTheLockThatWasKeptForIt() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(8));
		refused(second, waiting);
		released(first, grant);
		get(second.abandon(waiting));
		released(first, granted(first, claim(Duration.ZERO)));
		assertThat(server.ask("exists", key("waiters"))).isEqualTo("0");
	}

	@Test
	void releaseNotifiesAllReadersBeforeTheNextWriter() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Contended one = refused(first, shared(Duration.ofSeconds(9)));
		Contended two = refused(second, shared(Duration.ofSeconds(9)));
		Contended writer = refused(first, claim(Duration.ofSeconds(9)));
		Contended behind = refused(second, shared(Duration.ofSeconds(9)));
		List<String> commands = server.watched(() -> {
			released(first, grant);
			get(one.signal());
			return get(two.signal());
		});
		assertThat(commands).filteredOn((line) -> line.contains("\"PUBLISH\"")).hasSize(2);
		assertThat(writer.signal().toCompletableFuture()).isNotDone();
		assertThat(behind.signal().toCompletableFuture()).isNotDone();
		server.ask("del", key("waiters"));
	}

	@Test
	void lastReaderNotifiesTheWriterAndOthersPublishNothing() throws Exception {
		Grant one = granted(first, shared(Duration.ZERO));
		Grant two = granted(second, shared(Duration.ZERO));
		Claim writer = claim(Duration.ofSeconds(9));
		Contended waiting = refused(second, writer);
		List<String> commands = server.watched(() -> {
			released(first, one);
			return null;
		});
		assertThat(commands).noneMatch((line) -> line.contains("\"PUBLISH\""));
		released(second, two);
		get(waiting.signal());
		refused(first, shared(Duration.ZERO));
		released(second, granted(second, writer));
	}

	@Test
	void withdrawnWriterAdmitsTheReadersBehindIt() throws Exception {
		Grant reader = granted(first, shared(Duration.ZERO));
		Claim writer = claim(Duration.ofSeconds(9));
		refused(second, writer);
		Claim behind = shared(Duration.ofSeconds(9));
		Contended waiting = refused(first, behind);
		get(second.abandon(writer));
		get(waiting.signal());
		released(first, granted(first, behind));
		released(first, reader);
	}

	@Slow
	@Test
	void lockThatIsKeptForAClaimIsFreeAfterThreeSeconds() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Contended silent = refused(second, fair(Duration.ofSeconds(9)));
		released(first, grant);
		get(silent.signal());
		refused(first, fair(Duration.ZERO));
		assertThat(server.ask("exists", key("waiters"))).isEqualTo("0");
		assertThat(Long.parseLong(server.ask("pttl", key("lock")))).isBetween(1L, 3000L);
		Awaitility.await().until(() -> server.ask("exists", key("lock")).equals("0"));
		released(first, granted(first, fair(Duration.ZERO)));
	}

	@Test
	void fairClaimWithoutWaitTimeTakesNoPosition() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		refused(second, fair(Duration.ZERO));
		assertThat(server.ask("exists", key("waiters"))).isEqualTo("0");
		released(first, grant);
	}

	@Test
	void arrivalOrderCountsEvenIfTheClockGoesBack() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		String ends = Long.toString(System.currentTimeMillis() + 9000);
		server.ask("zadd", key("waiters"), ends, "9000000000000000|EXCLUSIVE|1|1|0|gone|somebody");
		Claim late = fair(Duration.ofSeconds(9));
		refused(second, late);
		assertThat(server.ask("zrange", key("waiters"), "0", "-1")).contains("9000000000000001|EXCLUSIVE|1|");
		released(first, grant);
		released(second, granted(second, late));
	}

	@Test
	void notificationOfAWithdrawnClaimIsPassedOn() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim leaving = claim(Duration.ofSeconds(9));
		Contended notified = refused(second, leaving);
		Claim staying = claim(Duration.ofSeconds(9));
		Contended waiting = refused(first, staying);
		released(first, grant);
		get(notified.signal());
		get(second.abandon(leaving));
		get(waiting.signal());
		released(first, granted(first, staying));
	}

	@Test
	void withdrawalOfAHeldLockNotifiesTheNext() throws Exception {
		Claim holder = claim(Duration.ZERO);
		granted(first, holder);
		Claim next = claim(Duration.ofSeconds(5));
		Contended waiting = refused(second, next);
		get(first.abandon(holder));
		get(waiting.signal());
		assertThat(server.ask("get", key("lock"))).startsWith(next.owner() + ":");
		get(second.abandon(next));
		assertThat(server.ask("exists", key("lock"))).isEqualTo("0");
	}

	@Test
	void positionOfADeadJvmDoesNotSwallowTheNotification() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		RedisLockBackend dying = this.library.backend(server.address());
		refused(dying, claim(Duration.ofSeconds(9)));
		dying.close();
		Claim living = claim(Duration.ofSeconds(9));
		Contended waiting = refused(second, living);
		assertThat(server.ask("zcard", key("waiters"))).isEqualTo("2");
		released(first, grant);
		get(waiting.signal());
		assertThat(server.ask("zcard", key("waiters"))).isEqualTo("0");
		released(second, granted(second, living));
	}

	@Test
	void releaseGrantsTheLockToTheWaiter() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Contended waiting = refused(second, claim(Duration.ofSeconds(9)));
		released(first, grant);
		KeptLock kept = (KeptLock) get(waiting.signal());
		assertThat(kept.grant().storeToken()).isGreaterThan(grant.storeToken());
		assertThat(kept.after()).isPositive();
		assertThat(kept.time()).isEqualTo(Duration.ofSeconds(3));
		assertThat(get(second.renew(List.of(kept.grant())))).first().isInstanceOf(RenewResult.Renewed.class);
		assertThat(Long.parseLong(server.ask("pttl", key("lock")))).isGreaterThan(3000);
		released(second, kept.grant());
		assertThat(server.ask("exists", key("lock"), key("waiters"))).isEqualTo("0");
	}

	@Test
	void releaseDoesNotKeepTheLockForLongerThanItsLease() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim brief = claim(Duration.ofSeconds(9)).withLeaseTime(Duration.ofMillis(700));
		Contended waiting = refused(second, brief);
		released(first, grant);
		assertThat(((KeptLock) get(waiting.signal())).time()).isEqualTo(Duration.ofMillis(700));
		get(second.abandon(brief));
	}

	@Test
	void releaseGrantsAStickyLease() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim sticky = sticky(claim(Duration.ofSeconds(9)));
		Contended waiting = refused(second, sticky);
		Contended behind = refused(first, claim(Duration.ofSeconds(9)));
		released(first, grant);
		Grant kept = ((KeptLock) get(waiting.signal())).grant();
		assertThat(kept.sticky()).isTrue();
		get(kept.wanted());
		released(second, kept);
		released(first, ((KeptLock) get(behind.signal())).grant());
	}

	/** The position of the first attempt has no channel, and the second one keeps it. */
	@Test
	void leaseIsNotStickyIfTheFirstAttemptCameBeforeTheSubscription() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(9));
		refused(second, waiting);
		Contended again = refused(second, sticky(waiting));
		released(first, grant);
		Grant kept = ((KeptLock) get(again.signal())).grant();
		assertThat(kept.sticky()).isFalse();
		released(second, kept);
	}

	@Test
	void stickyLeaseIsNotWantedWhileNobodyWaits() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Contended waiting = refused(second, sticky(claim(Duration.ofSeconds(9))));
		released(first, grant);
		Grant kept = ((KeptLock) get(waiting.signal())).grant();
		assertThat(kept.wanted().toCompletableFuture()).isNotDone();
		refused(first, claim(Duration.ZERO));
		get(kept.wanted());
		released(second, kept);
	}

	private static Claim sticky(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), true, claim.remainingWait(),
				false, true);
	}

	@Test
	void lateNotificationOfAnEarlierAttemptIsHarmless() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim waiting = claim(Duration.ofSeconds(9));
		Contended one = refused(second, waiting);
		released(first, grant);
		get(one.signal());
		// ends the time for which the lock is kept for the waiter
		server.ask("del", key("lock"));
		Grant other = granted(first, claim(Duration.ZERO));
		Contended two = refused(second, waiting);
		assertThat(two.signal().toCompletableFuture()).isNotDone();
		released(first, other);
		get(two.signal());
		released(second, granted(second, waiting));
	}

	@Test
	void retryComesAtTheEndOfTheLeaseOrWithinASecond() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		assertThat(refused(second, claim(Duration.ZERO)).retryAfter()).isEqualTo(Duration.ofSeconds(1));
		server.ask("pexpire", key("lock"), "900");
		assertThat(refused(second, claim(Duration.ZERO)).retryAfter()).isBetween(Duration.ofMillis(1),
				Duration.ofMillis(900));
		released(first, grant);
		server.ask("set", key("lock"), "foreign");
		assertThat(refused(second, claim(Duration.ZERO)).retryAfter()).isEqualTo(Duration.ofSeconds(1));
		server.ask("del", key("lock"));
	}

	@Test
	void nothingStaysInThisJvm() throws Exception {
		int before = first.waiting() + second.waiting();
		Grant grant = granted(first, claim(Duration.ZERO));
		List<Claim> waiting = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			waiting.add(claim(Duration.ofSeconds(5)));
			refused(second, waiting.get(i));
		}
		assertThat(second.waiting()).isGreaterThanOrEqualTo(20);
		released(first, grant);
		Grant next = granted(second, waiting.get(0));
		for (Claim claim : waiting.subList(1, 20)) {
			get(second.abandon(claim));
		}
		released(second, next);
		assertThat(first.waiting() + second.waiting()).isEqualTo(before);
	}

}
