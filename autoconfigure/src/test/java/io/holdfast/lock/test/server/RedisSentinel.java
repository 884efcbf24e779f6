package io.holdfast.lock.test.server;

/**
 * A real Redis primary with one replica, monitored by one real sentinel with a quorum of
 * one.
 */
public final class RedisSentinel implements AutoCloseable {

	/** The name of the primary in the sentinel's configuration. */
	public static final String MASTER = "holdfast";

	/**
	 * The period of TILT mode, in milliseconds. A sentinel that was delayed on a busy
	 * machine enters this mode and does not act while in it. With the default of 30
	 * seconds, the replica would be without its primary for too long to be promoted.
	 */
	private static final int TILT_MILLIS = 1000;

	/**
	 * After this time without a response, the sentinel takes a server for dead. On a busy
	 * machine, a second was too short: the sentinel promoted the former primary again.
	 */
	private static final int SILENCE_MILLIS = 3000;

	private static final int LONGEST_FAILOVER_SECONDS = 90;

	private RedisServer primary;

	private RedisServer replica;

	private final RedisServer sentinel;

	private RedisSentinel(RedisServer primary, RedisServer replica, RedisServer sentinel) {
		this.primary = primary;
		this.replica = replica;
		this.sentinel = sentinel;
	}

	/**
	 * Starts all three servers and waits until the sentinel sees the replica.
	 * @return the group, which the caller must close
	 */
	public static RedisSentinel started() {
		RedisServer primary = RedisServer.started();
		RedisServer replica = primary.startReplica();
		RedisServer sentinel = RedisServer.startedAsSentinel(
				"sentinel monitor " + MASTER + " " + ServerProcess.HOST + " " + primary.port() + " 1",
				"sentinel down-after-milliseconds " + MASTER + " " + SILENCE_MILLIS,
				"sentinel failover-timeout " + MASTER + " 5000");
		RedisSentinel group = new RedisSentinel(primary, replica, sentinel);
		try {
			sentinel.ask("sentinel", "debug", "tilt-period", Integer.toString(TILT_MILLIS));
			sentinel.awaitOutput("num-slaves\n1", "sentinel", "master", MASTER);
			return group;
		}
		catch (RuntimeException ex) {
			group.close();
			throw ex;
		}
	}

	/**
	 * Returns the server that accepts writes.
	 * @return the primary, according to the methods of this group
	 */
	public RedisServer primary() {
		return this.primary;
	}

	/**
	 * Returns the replica, which is down after {@link #failOver()}.
	 * @return the replica
	 */
	public RedisServer replica() {
		return this.replica;
	}

	/**
	 * Returns the sentinel.
	 * @return the sentinel
	 */
	public RedisServer sentinel() {
		return this.sentinel;
	}

	/**
	 * Stops replication, so the replica misses all later writes.
	 */
	public void stopReplication() {
		this.replica.ask("replicaof", ServerProcess.HOST, Integer.toString(ServerProcess.freePort()));
	}

	/**
	 * Kills the primary and waits until the replica is promoted. Afterwards, the two
	 * servers have swapped roles.
	 */
	public void failOver() {
		this.primary.kill();
		awaitPromotion();
	}

	/**
	 * Restarts the server that is down and waits until it replicates from the primary.
	 */
	public void reunite() {
		this.replica.start();
		replicateFromPrimary();
		this.sentinel.awaitOutput("status=ok", "info", "sentinel");
	}

	private void replicateFromPrimary() {
		this.replica.ask("replicaof", ServerProcess.HOST, Integer.toString(this.primary.port()));
		this.replica.awaitOutput("master_link_status:up", "info", "replication");
	}

	/**
	 * Promotes the replica while the primary is healthy, and waits until the former
	 * primary replicates from it. The sentinel leaves the former primary in its role for
	 * about ten seconds. Locks that the former primary grants during this time are lost.
	 */
	public void switchRoles() {
		this.sentinel.awaitOutput("OK", "sentinel", "failover", MASTER);
		awaitPromotion();
		replicateFromPrimary();
	}

	/**
	 * Waits until the sentinel knows that the replica is promoted. A sentinel that learns
	 * it too late makes it a replica again.
	 */
	private void awaitPromotion() {
		try {
			this.sentinel.awaitOutput(Integer.toString(this.replica.port()), LONGEST_FAILOVER_SECONDS, "sentinel",
					"get-master-addr-by-name", MASTER);
			this.replica.awaitOutput("role:master", "info", "replication");
		}
		catch (IllegalStateException ex) {
			throw new IllegalStateException(
					"The sentinel did not fail over. The end of its log:%n%s".formatted(this.sentinel.logTail()), ex);
		}
		RedisServer former = this.primary;
		this.primary = this.replica;
		this.replica = former;
	}

	@Override
	public void close() {
		this.sentinel.close();
		this.replica.close();
		this.primary.close();
	}

}
