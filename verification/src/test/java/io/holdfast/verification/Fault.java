package io.holdfast.verification;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

/**
 * What can go wrong. Each fault ends by itself: afterwards everything runs and is
 * connected again.
 */
enum Fault {

	/** A holder stops before its transaction has read anything. */
	PAUSED_BEFORE_BODY {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			pausedAt("BEGIN", actor, random);
		}
	},

	/** A holder stops after it has read and computed, right before it writes. */
	PAUSED_IN_BODY {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			pausedAt("update product", actor, random);
		}
	},

	/** A holder stops when its last check is done and its commit is on the wire. */
	PAUSED_BEFORE_COMMIT {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			pausedAt("COMMIT", actor, random);
		}
	},

	/**
	 * A waiter stops while another process holds its lock, and goes on before its
	 * deadline.
	 */
	WAITER_PAUSED_BELOW_DEADLINE {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			waiterPaused(stage, actor, 1_000 + random.nextInt(2_000));
		}
	},

	/**
	 * A waiter stops while another process holds its lock, and goes on about its
	 * deadline.
	 */
	WAITER_PAUSED_ACROSS_DEADLINE {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			waiterPaused(stage, actor, Stage.WAIT_SECONDS * 1_000L - 700 + random.nextInt(1_000));
		}
	},

	/**
	 * A waiter stops while another process holds its lock, and goes on long after its
	 * deadline.
	 */
	WAITER_PAUSED_BEYOND_DEADLINE {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			waiterPaused(stage, actor, Stage.WAIT_SECONDS * 1_000L + 1_500 + random.nextInt(3_000));
		}
	},

	/**
	 * One lock is held while hundreds of others are asked for at once in the same
	 * process.
	 */
	BURST_OF_OTHERS {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			long millis = pauseMillis(random);
			atNext("update product", actor, () -> {
				Buyers.burst(actor.process());
				sleep(millis);
			});
		}
	},

	/** The database is away for longer than a lease. */
	DATABASE_PAUSED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			stage.database().pause();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				stage.database().resume();
			}
		}
	},

	/** A process dies and another takes its place. */
	KILLED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) {
			actor.process().kill();
			actor.process().start();
		}
	},

	/** The database goes between the fence and the commit. */
	DATABASE_CUT {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			atNext("COMMIT", actor, actor.database()::cut);
		}
	},

	/** The commit is carried out and its answer lost. */
	COMMIT_UNANSWERED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			actor.database().loseNextReplyTo("COMMIT");
			TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
		}
	},

	/** The database takes its time over a commit, though less than a lease. */
	COMMIT_SLOW {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			atNext("COMMIT", actor, () -> sleep(SHORT_MILLIS));
		}
	},

	/** The wall clock of a process is wrong by hours. */
	PROCESS_CLOCK_MOVED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			movedClock(actor.process(), random);
		}
	},

	/** The connections to the store break. */
	WIRE_CUT {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) {
			actor.wires().forEach(TcpProxy::cut);
		}
	},

	/** The connections to the store stay open and carry nothing. */
	WIRE_SILENT {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			actor.wires().forEach(TcpProxy::stall);
			try {
				sleepLongerThanALease(random);
			}
			finally {
				actor.wires().forEach(TcpProxy::flow);
			}
		}
	},

	/** Every packet to and from the store is late. */
	WIRE_SLOW {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			long millis = SHORT_MILLIS + random.nextInt(500);
			actor.wires().forEach((wire) -> wire.delay(millis));
			try {
				sleepLongerThanALease(random);
			}
			finally {
				actor.wires().forEach((wire) -> wire.delay(0));
			}
		}
	},

	/** Requests and answers are late by more than the time for which anybody waits. */
	ANSWERS_LATE {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			long millis = Stage.WAIT_SECONDS * 1_000L / 2 + 300 + random.nextInt(1_000);
			actor.wires().forEach((wire) -> wire.delay(millis));
			try {
				TimeUnit.MILLISECONDS.sleep(3 * millis);
			}
			finally {
				actor.wires().forEach((wire) -> wire.delay(0));
			}
		}
	},

	/** Each process reaches most servers of the store, and no two the same. */
	PROCESSES_DIVIDED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			List<TcpProxy> silent = stage.actors()
				.stream()
				.map((each) -> each.wires().get(each.number() % each.wires().size()))
				.toList();
			silent.forEach(TcpProxy::stall);
			try {
				sleepLongerThanALease(random);
			}
			finally {
				silent.forEach(TcpProxy::flow);
			}
		}
	},

	/**
	 * The server that leads the others is separated from them, though not from its
	 * clients.
	 */
	MEMBERS_DIVIDED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			stage.store().divide();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				stage.store().reunite();
			}
		}
	},

	/** A server of the store dies right after it answered. */
	MEMBER_KILLED_AFTER_ANSWER {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			atNextAnswer(stage, actor, ServerProcess::kill, ServerProcess::start);
		}
	},

	/** A server of the store stops right after it answered, for longer than a lease. */
	MEMBER_PAUSED_AFTER_ANSWER {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			long millis = pauseMillis(random);
			atNextAnswer(stage, actor, ServerProcess::pause, (server) -> {
				sleep(millis);
				server.resume();
			});
		}
	},

	/** A server of the store stops and goes on. */
	STORE_PAUSED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			ServerProcess server = any(stage, random);
			server.pause();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				server.resume();
			}
		}
	},

	/** Most servers of the store stop and go on, so that nothing can be agreed on. */
	QUORUM_PAUSED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			List<? extends ServerProcess> most = stage.store().servers().subList(1, stage.store().servers().size());
			most.forEach(ServerProcess::pause);
			try {
				sleepLongerThanALease(random);
			}
			finally {
				most.forEach(ServerProcess::resume);
			}
		}
	},

	/** A server of the store dies and is started again, with what is on its disk. */
	STORE_RESTARTED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) {
			ServerProcess server = any(stage, random);
			server.kill();
			server.start();
		}
	},

	/** The server that leads the others dies and is started again. */
	LEADER_KILLED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			ServerProcess leader = stage.store().leader();
			leader.kill();
			leader.start();
		}
	},

	/** A replica takes over that has not heard of the latest locks. */
	STORE_FAILED_OVER {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) {
			stage.store().failOver();
		}
	},

	/**
	 * The wall clock of the store is wrong by hours for longer than a lease. Of several
	 * servers it is one.
	 */
	STORE_CLOCK_MOVED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) throws Exception {
			List<? extends ServerProcess> servers = stage.clocks();
			movedClock(servers.get(random.nextInt(servers.size())), random);
		}
	},

	/** A store without a disk forgets everything while it runs. */
	STORE_FLUSHED {
		@Override
		void happen(Stage stage, Stage.Actor actor, Random random) {
			((RedisServer) any(stage, random)).ask("flushall");
		}
	};

	private static final long LONGEST_WAIT_SECONDS = 15;

	private static final long SHORT_MILLIS = 300;

	/**
	 * Whether leases that the store has granted may be over without the store's client
	 * being able to know: its servers forget, or judge the time by a clock that jumps.
	 */
	boolean losesLeases() {
		return switch (this) {
			case STORE_FLUSHED, STORE_FAILED_OVER, STORE_CLOCK_MOVED -> true;
			default -> false;
		};
	}

	abstract void happen(Stage stage, Stage.Actor actor, Random random) throws Exception;

	private static void movedClock(ServerProcess server, Random random) throws InterruptedException {
		Duration offset = Duration.ofMinutes(60 + random.nextInt(240));
		server.moveWallClock(random.nextBoolean() ? offset : offset.negated());
		try {
			sleepLongerThanALease(random);
		}
		finally {
			server.moveWallClock(Duration.ZERO);
		}
	}

	private static void pausedAt(String text, Stage.Actor actor, Random random) throws Exception {
		long millis = pauseMillis(random);
		atNext(text, actor, () -> {
			actor.process().pause();
			sleep(millis);
			actor.process().resume();
		});
	}

	/**
	 * Pause another process while it waits for a lock that the actor holds, and which the
	 * actor releases meanwhile.
	 */
	private static void waiterPaused(Stage stage, Stage.Actor holder, long millis) throws InterruptedException {
		ServerProcess waiter = stage.otherThan(holder).process();
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

	/** Do something to whichever server of the store answers the actor next. */
	private static void atNextAnswer(Stage stage, Stage.Actor actor, Consumer<ServerProcess> first,
			Consumer<ServerProcess> then) throws InterruptedException {
		AtomicReference<ServerProcess> hit = new AtomicReference<>();
		CountDownLatch done = new CountDownLatch(1);
		for (int i = 0; i < actor.wires().size(); i++) {
			ServerProcess server = stage.store().servers().get(i);
			actor.wires().get(i).afterNextReply(() -> {
				if (hit.compareAndSet(null, server)) {
					first.accept(server);
					done.countDown();
				}
			});
		}
		done.await(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
		actor.wires().forEach((wire) -> wire.afterNextReply(null));
		ServerProcess server = hit.get();
		if (server != null) {
			then.accept(server);
		}
	}

	/** Do something while the next statement with a text waits for it on the wire. */
	private static void atNext(String text, Stage.Actor actor, Runnable meanwhile) throws InterruptedException {
		CountDownLatch over = new CountDownLatch(1);
		actor.database().holdNext(text, () -> {
			meanwhile.run();
			over.countDown();
		});
		over.await(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
		actor.database().holdNothing();
	}

	private static void sleep(long millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void sleepLongerThanALease(Random random) throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(pauseMillis(random));
	}

	private static long pauseMillis(Random random) {
		return StoreKit.LEASE_SECONDS * 1_000L + 500 + random.nextInt(1_500);
	}

	private static ServerProcess any(Stage stage, Random random) {
		List<? extends ServerProcess> servers = stage.store().servers();
		return servers.get(random.nextInt(servers.size()));
	}

}
