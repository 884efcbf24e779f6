package io.holdfast.lock.test.server;

/**
 * A real primary with one replica, watched by a real sentinel that alone decides.
 */
public final class RedisSentinel implements AutoCloseable {

	/** The name under which the sentinel knows the primary. */
	public static final String MASTER = "holdfast";

	/**
	 * How long a sentinel acts on nothing that did not get its turn on a busy machine. It
	 * is half a minute by default, after which the replica has been without its primary
	 * for too long to be promoted.
	 */
	private static final int TILT_MILLIS = 1000;

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
	 * Start all three and wait until the sentinel sees the replica.
	 * @return the group; to be closed
	 */
	public static RedisSentinel started() {
		RedisServer primary = RedisServer.started();
		RedisServer replica = primary.startReplica();
		RedisServer sentinel = RedisServer.startedAsSentinel(
				"sentinel monitor " + MASTER + " " + ServerProcess.HOST + " " + primary.port() + " 1",
				"sentinel down-after-milliseconds " + MASTER + " 1000",
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
	 * The server that writes go to.
	 * @return the primary, as far as this group's methods made it one
	 */
	public RedisServer primary() {
		return this.primary;
	}

	/**
	 * The other server, which is dead after a failover.
	 * @return the replica
	 */
	public RedisServer replica() {
		return this.replica;
	}

	/**
	 * The sentinel.
	 * @return the sentinel
	 */
	public RedisServer sentinel() {
		return this.sentinel;
	}

	/**
	 * Let the replica hear of nothing that is written from now on.
	 */
	public void forgetWhatComesNow() {
		this.replica.ask("replicaof", ServerProcess.HOST, Integer.toString(ServerProcess.freePort()));
	}

	/**
	 * Kill the primary and wait until the replica has taken over; the two have changed
	 * places then.
	 */
	public void failOver() {
		this.primary.kill();
		awaitTheReplicaInItsPlace();
	}

	/**
	 * Start the server that is dead and wait until it follows the other.
	 */
	public void reunite() {
		this.replica.start();
		followThePrimary();
		this.sentinel.awaitOutput("status=ok", "info", "sentinel");
	}

	private void followThePrimary() {
		this.replica.ask("replicaof", ServerProcess.HOST, Integer.toString(this.primary.port()));
		this.replica.awaitOutput("master_link_status:up", "info", "replication");
	}

	/**
	 * Make the replica, which is well, the primary, and wait until the former primary
	 * follows it. The sentinel leaves the former one a primary for about ten seconds, in
	 * which it grants locks that nobody knows of later.
	 */
	public void changePlaces() {
		this.sentinel.awaitOutput("OK", "sentinel", "failover", MASTER);
		awaitTheReplicaInItsPlace();
		this.sentinel.awaitOutput(Integer.toString(this.primary.port()), "sentinel", "get-master-addr-by-name", MASTER);
		followThePrimary();
	}

	private void awaitTheReplicaInItsPlace() {
		try {
			this.replica.awaitOutput("role:master", LONGEST_FAILOVER_SECONDS, "info", "replication");
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
