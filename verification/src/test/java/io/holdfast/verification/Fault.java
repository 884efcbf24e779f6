package io.holdfast.verification;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;
import io.holdfast.verification.TestEnvironment.Participant;

import static io.holdfast.verification.FaultSteps.SHORT_MILLIS;
import static io.holdfast.verification.FaultSteps.any;
import static io.holdfast.verification.FaultSteps.atNext;
import static io.holdfast.verification.FaultSteps.atNextAnswer;
import static io.holdfast.verification.FaultSteps.movedClock;
import static io.holdfast.verification.FaultSteps.pauseMillis;
import static io.holdfast.verification.FaultSteps.pausedAt;
import static io.holdfast.verification.FaultSteps.sleep;
import static io.holdfast.verification.FaultSteps.sleepLongerThanALease;
import static io.holdfast.verification.FaultSteps.waiterPaused;

/**
 * A fault of a run. Each fault ends by itself: afterwards all processes and servers run
 * and are connected again.
 */
enum Fault {

	/** Pauses a holder before its transaction has read anything. */
	PAUSED_BEFORE_BODY {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			pausedAt("BEGIN", participant, random);
		}
	},

	/** Pauses a holder after it has read and computed, right before it writes. */
	PAUSED_IN_BODY {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			pausedAt("update product", participant, random);
		}
	},

	/** Pauses a holder after its last check, when its commit is on the wire. */
	PAUSED_BEFORE_COMMIT {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			pausedAt("COMMIT", participant, random);
		}
	},

	/**
	 * Pauses a waiter while another process holds its lock, and resumes it before its
	 * deadline.
	 */
	WAITER_PAUSED_BELOW_DEADLINE {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			waiterPaused(environment, participant, 1_000 + random.nextInt(2_000));
		}
	},

	/**
	 * Pauses a waiter while another process holds its lock, and resumes it at about its
	 * deadline.
	 */
	WAITER_PAUSED_ACROSS_DEADLINE {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			waiterPaused(environment, participant, TestEnvironment.WAIT_SECONDS * 1_000L - 700 + random.nextInt(1_000));
		}
	},

	/**
	 * Pauses a waiter while another process holds its lock, and resumes it long after its
	 * deadline.
	 */
	WAITER_PAUSED_BEYOND_DEADLINE {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			waiterPaused(environment, participant,
					TestEnvironment.WAIT_SECONDS * 1_000L + 1_500 + random.nextInt(3_000));
		}
	},

	/**
	 * Requests hundreds of locks at once in a process that holds another lock.
	 */
	BURST_OF_OTHERS {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			long millis = pauseMillis(random);
			atNext("update product", participant, () -> {
				Buyers.burst(participant.process());
				sleep(millis);
			});
		}
	},

	/** Pauses the database for longer than a lease. */
	DATABASE_PAUSED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			environment.database().pause();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				environment.database().resume();
			}
		}
	},

	/** Kills a process and starts another one in its place. */
	KILLED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) {
			participant.process().kill();
			participant.process().start();
		}
	},

	/** Cuts the connection to the database between the fence and the commit. */
	DATABASE_CUT {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			atNext("COMMIT", participant, participant.database()::cut);
		}
	},

	/** Loses the response to a commit that was executed. */
	COMMIT_UNANSWERED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			participant.database().loseNextReplyTo("COMMIT");
			TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
		}
	},

	/** Delays a commit in the database, but for less than a lease. */
	COMMIT_SLOW {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			atNext("COMMIT", participant, () -> sleep(SHORT_MILLIS));
		}
	},

	/** Moves the wall clock of a process by hours. */
	PROCESS_CLOCK_MOVED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			movedClock(participant.process(), random);
		}
	},

	/** Cuts the connections to the store. */
	WIRE_CUT {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) {
			participant.wires().forEach(TcpProxy::cut);
		}
	},

	/** Stalls the connections to the store without closing them. */
	WIRE_SILENT {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			participant.wires().forEach(TcpProxy::stall);
			try {
				sleepLongerThanALease(random);
			}
			finally {
				participant.wires().forEach(TcpProxy::flow);
			}
		}
	},

	/** Delays every packet to and from the store. */
	WIRE_SLOW {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			long millis = SHORT_MILLIS + random.nextInt(500);
			participant.wires().forEach((wire) -> wire.delay(millis));
			try {
				sleepLongerThanALease(random);
			}
			finally {
				participant.wires().forEach((wire) -> wire.delay(0));
			}
		}
	},

	/**
	 * Delays requests and responses so that a round trip exceeds the wait time of every
	 * caller.
	 */
	ANSWERS_LATE {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			long millis = TestEnvironment.WAIT_SECONDS * 1_000L / 2 + 300 + random.nextInt(1_000);
			participant.wires().forEach((wire) -> wire.delay(millis));
			try {
				TimeUnit.MILLISECONDS.sleep(3 * millis);
			}
			finally {
				participant.wires().forEach((wire) -> wire.delay(0));
			}
		}
	},

	/**
	 * Separates each process from a different server of the store, so that it reaches a
	 * majority.
	 */
	PROCESSES_DIVIDED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			List<TcpProxy> silent = environment.participants()
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
	 * Separates the leader from the other servers, but not from its clients.
	 */
	MEMBERS_DIVIDED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			environment.store().divide();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				environment.store().reunite();
			}
		}
	},

	/** Kills a server of the store right after it has responded. */
	MEMBER_KILLED_AFTER_ANSWER {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			atNextAnswer(environment, participant, ServerProcess::kill, ServerProcess::start);
		}
	},

	/**
	 * Pauses a server of the store right after it has responded, for longer than a lease.
	 */
	MEMBER_PAUSED_AFTER_ANSWER {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			long millis = pauseMillis(random);
			atNextAnswer(environment, participant, ServerProcess::pause, (server) -> {
				sleep(millis);
				server.resume();
			});
		}
	},

	/** Pauses and resumes a server of the store. */
	STORE_PAUSED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			ServerProcess server = any(environment, random);
			server.pause();
			try {
				sleepLongerThanALease(random);
			}
			finally {
				server.resume();
			}
		}
	},

	/**
	 * Pauses and resumes a majority of the servers of the store, so that no quorum
	 * exists.
	 */
	QUORUM_PAUSED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			List<? extends ServerProcess> all = environment.store().servers();
			List<? extends ServerProcess> most = all.subList(1, all.size());
			most.forEach(ServerProcess::pause);
			try {
				sleepLongerThanALease(random);
			}
			finally {
				most.forEach(ServerProcess::resume);
			}
		}
	},

	/**
	 * Kills and restarts a server of the store, which keeps the data on its disk. Redis
	 * has none, and loses them.
	 */
	STORE_RESTARTED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) {
			ServerProcess server = any(environment, random);
			server.kill();
			server.start();
		}
	},

	/** Kills and restarts the leader. */
	LEADER_KILLED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			ServerProcess leader = environment.store().leader();
			leader.kill();
			leader.start();
		}
	},

	/** Promotes a replica that has not received the latest locks. */
	STORE_FAILED_OVER {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) {
			environment.store().failOver();
		}
	},

	/**
	 * Moves the wall clock of one server of the store by hours, for longer than a lease.
	 */
	STORE_CLOCK_MOVED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) throws Exception {
			List<? extends ServerProcess> servers = environment.clocks();
			movedClock(servers.get(random.nextInt(servers.size())), random);
		}
	},

	/** Deletes all data of a running store without a disk. */
	STORE_FLUSHED {
		@Override
		void inject(TestEnvironment environment, Participant participant, Random random) {
			((RedisServer) any(environment, random)).ask("flushall");
		}
	};

	/**
	 * Whether granted leases may end without the knowledge of the store's client, because
	 * the servers lose data or measure time by a clock that jumps.
	 */
	boolean losesLeases() {
		return switch (this) {
			case STORE_FLUSHED, STORE_RESTARTED, STORE_FAILED_OVER, STORE_CLOCK_MOVED -> true;
			default -> false;
		};
	}

	abstract void inject(TestEnvironment environment, Participant participant, Random random) throws Exception;

}
