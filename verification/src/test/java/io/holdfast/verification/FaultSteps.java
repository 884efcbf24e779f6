package io.holdfast.verification;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.verification.TestEnvironment.Participant;

/**
 * The steps of which faults consist.
 */
final class FaultSteps {

	private static final long LONGEST_WAIT_SECONDS = 15;

	static final long SHORT_MILLIS = 300;

	private FaultSteps() {
	}

	static void movedClock(ServerProcess server, Random random) throws InterruptedException {
		Duration offset = Duration.ofMinutes(60 + random.nextInt(240));
		server.moveWallClock(random.nextBoolean() ? offset : offset.negated());
		try {
			sleepLongerThanALease(random);
		}
		finally {
			server.moveWallClock(Duration.ZERO);
		}
	}

	static void pausedAt(String text, Participant participant, Random random) throws Exception {
		long millis = pauseMillis(random);
		atNext(text, participant, () -> {
			participant.process().pause();
			sleep(millis);
			participant.process().resume();
		});
	}

	/**
	 * Pauses another process while it waits for a lock that the actor holds and releases
	 * in the meantime.
	 */
	static void waiterPaused(TestEnvironment environment, Participant holder, long millis) throws InterruptedException {
		ServerProcess waiter = environment.otherThan(holder).process();
		try {
			atNext("update product", holder, () -> {
				sleep(SHORT_MILLIS);
				waiter.pause();
			});
			sleep(millis);
		}
		finally {
			waiter.resume();
		}
	}

	/** Applies an action to the server of the store that next responds to the actor. */
	static void atNextAnswer(TestEnvironment environment, Participant participant, Consumer<ServerProcess> first,
			Consumer<ServerProcess> then) throws InterruptedException {
		AtomicReference<ServerProcess> hit = new AtomicReference<>();
		CountDownLatch done = new CountDownLatch(1);
		for (int i = 0; i < participant.wires().size(); i++) {
			ServerProcess server = environment.store().servers().get(i);
			participant.wires().get(i).afterNextReply(() -> {
				if (hit.compareAndSet(null, server)) {
					first.accept(server);
					done.countDown();
				}
			});
		}
		done.await(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
		participant.wires().forEach((wire) -> wire.afterNextReply(null));
		ServerProcess server = hit.get();
		if (server != null) {
			then.accept(server);
		}
	}

	/**
	 * Runs an action while the proxy holds back the next statement that contains the
	 * given text.
	 */
	static void atNext(String text, Participant participant, Runnable meanwhile) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);
		participant.database().holdNext(text, () -> {
			meanwhile.run();
			done.countDown();
		});
		done.await(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
		participant.database().holdNothing();
	}

	static void sleep(long millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	static void sleepLongerThanALease(Random random) throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(pauseMillis(random));
	}

	static long pauseMillis(Random random) {
		return StoreKit.LEASE_SECONDS * 1_000L + 500 + random.nextInt(1_500);
	}

	static ServerProcess any(TestEnvironment environment, Random random) {
		List<? extends ServerProcess> servers = environment.store().servers();
		return servers.get(random.nextInt(servers.size()));
	}

}
