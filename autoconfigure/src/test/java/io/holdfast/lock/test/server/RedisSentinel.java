package io.holdfast.lock.test.server;

/**
 * A real primary with one replica, watched by a real sentinel that alone decides.
 */
public final class RedisSentinel implements AutoCloseable {

	/** The name under which the sentinel knows the primary. */
	public static final String MASTER = "holdfast";

	private final RedisServer primary;

	private final RedisServer replica;

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
			sentinel.awaitOutput("num-slaves\n1", "sentinel", "master", MASTER);
			return group;
		}
		catch (RuntimeException ex) {
			group.close();
			throw ex;
		}
	}

	/**
	 * The first primary; a replica after a failover.
	 * @return the server
	 */
	public RedisServer primary() {
		return this.primary;
	}

	/**
	 * The first replica; the primary after a failover.
	 * @return the server
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
	 * Kill the primary and wait until the replica has taken over.
	 */
	public void failOver() {
		this.primary.kill();
		this.replica.awaitOutput("role:master", "info", "replication");
	}

	@Override
	public void close() {
		this.sentinel.close();
		this.replica.close();
		this.primary.close();
	}

}
