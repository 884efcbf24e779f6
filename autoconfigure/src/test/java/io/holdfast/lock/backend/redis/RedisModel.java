package io.holdfast.lock.backend.redis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.ToIntBiFunction;

import org.jspecify.annotations.Nullable;

/**
 * Java model of the scripts on one Redis server, with the same keys, arguments and
 * results.
 */
final class RedisModel {

	/**
	 * How long a notified waiter keeps its position, and a writer the lock, without
	 * retrying, in milliseconds.
	 */
	private static final long NOTIFIED_MILLIS = 3_000;

	private final Map<String, Lock> locks = new TreeMap<>();

	private final LongSupplier clockMicros;

	private final ToIntBiFunction<String, String> publish;

	/**
	 * Creates an empty Redis.
	 * @param clockMicros the time of day of the server, in microseconds
	 * @param publish sends a message to a channel and returns the number of subscribers
	 */
	RedisModel(LongSupplier clockMicros, ToIntBiFunction<String, String> publish) {
		this.clockMicros = clockMicros;
		this.publish = publish;
	}

	/** Makes the next token of a lock greater than the given one. */
	void remember(RedisKeys keys, long token) {
		lock(keys.lock()).token = token;
	}

	Collection<String> leftovers() {
		this.locks.values().forEach((lock) -> lock.tidy(millis()));
		return this.locks.keySet().stream().filter((key) -> this.locks.get(key).isUsed()).toList();
	}

	/**
	 * Runs a script.
	 * @param sha1 the SHA-1 digest of the script
	 * @param keys the keys of the lock
	 * @param args the arguments
	 * @return the result
	 */
	List<Object> run(String sha1, List<?> keys, Object... args) {
		Lock lock = lock(keys.get(0).toString());
		List<String> texts = new ArrayList<>();
		for (Object arg : args) {
			texts.add(arg.toString());
		}
		if (sha1.equals(RedisScript.ACQUIRE.sha1())) {
			return acquire(lock, texts);
		}
		if (sha1.equals(RedisScript.RENEW.sha1())) {
			return List.of(renew(lock, texts) ? 1L : 0L);
		}
		if (sha1.equals(RedisScript.RELEASE.sha1())) {
			return List.of(release(lock, texts.get(0), texts.get(1)) ? 1L : 0L);
		}
		if (sha1.equals(RedisScript.ABANDON.sha1())) {
			return List.of(abandon(lock, texts.get(0), texts.get(1)) ? 1L : 0L);
		}
		return List.of("");
	}

	/** Returns the lock of one of its keys. */
	private Lock lock(String key) {
		Lock lock = this.locks.computeIfAbsent(key.substring(0, key.lastIndexOf(':')), (name) -> new Lock());
		lock.tidy(millis());
		return lock;
	}

	private long millis() {
		return this.clockMicros.getAsLong() / 1_000;
	}

	private List<Object> acquire(Lock lock, List<String> args) {
		String owner = args.get(0);
		long now = millis();
		long ends = now + Long.parseLong(args.get(1));
		boolean shared = args.get(5).equals("SHARED");
		boolean fair = args.get(6).equals("1");
		Grant mine = lock.grantOf(owner);
		boolean sticky = args.size() > 8;
		if (mine != null) {
			mine.ends = ends;
			mine.channel = (sticky && !mine.shared) ? args.get(8) : mine.channel;
			return granted(mine.token(), sticky && !mine.shared && !lock.positions.isEmpty());
		}
		QueuePosition position = lock.positionOf(owner);
		long until = Math.max(lock.heldUntil(shared), lock.keptUntil(position, shared, fair));
		if (until > 0) {
			long waitTime = Long.parseLong(args.get(2));
			lock.positions.remove(position);
			if (waitTime > 0) {
				QueuePosition kept = (position != null) ? position : new QueuePosition(nextNumber(lock), owner, shared,
						fair, args.get(7).equals("1"), sticky, args.get(3));
				kept.ends = now + waitTime;
				lock.positions.add(kept);
			}
			long micros = this.clockMicros.getAsLong();
			return demand(lock) ? List.of(0L, until - now, micros, lock.token, 1L)
					: List.of(0L, until - now, micros, lock.token);
		}
		nextToken(lock);
		lock.grants.add(new Grant(owner + ":" + lock.token, shared, ends, (sticky && !shared) ? args.get(8) : null));
		lock.positions.remove(position);
		return granted(lock.token, sticky && !lock.positions.isEmpty());
	}

	private void nextToken(Lock lock) {
		lock.token = Math.max(this.clockMicros.getAsLong(), lock.token + 1);
	}

	private static List<Object> granted(long token, boolean wanted) {
		return wanted ? List.of(1L, token, 1L) : List.of(1L, token);
	}

	/** Asks the instance with a sticky lease to release it. */
	private boolean demand(Lock lock) {
		boolean demanded = false;
		for (Grant grant : lock.grants) {
			if (grant.channel != null) {
				this.publish.applyAsInt(grant.channel, "wanted:" + grant.owner());
				demanded = true;
			}
		}
		return demanded;
	}

	private long nextNumber(Lock lock) {
		List<QueuePosition> waitQueue = lock.waitQueue();
		long last = waitQueue.isEmpty() ? -1 : waitQueue.get(waitQueue.size() - 1).number;
		return Math.max(this.clockMicros.getAsLong(), last + 1);
	}

	private boolean renew(Lock lock, List<String> args) {
		boolean shared = args.get(2).equals("SHARED");
		for (Grant grant : lock.grants) {
			if (grant.value.equals(args.get(0)) && grant.shared == shared) {
				grant.ends = millis() + Long.parseLong(args.get(1));
				return true;
			}
		}
		return false;
	}

	private boolean release(Lock lock, String value, String channels) {
		boolean found = lock.grants.removeIf((grant) -> grant.value.equals(value));
		if (found) {
			notifyWaiters(lock, channels);
		}
		return found;
	}

	private boolean abandon(Lock lock, String owner, String channels) {
		boolean waited = lock.positions.remove(lock.positionOf(owner));
		boolean held = lock.grants.remove(lock.grantOf(owner));
		if (waited || held) {
			notifyWaiters(lock, channels);
		}
		return waited || held;
	}

	private void notifyWaiters(Lock lock, String channels) {
		if (lock.grants.stream().anyMatch((grant) -> !grant.shared)) {
			return;
		}
		boolean reading = !lock.grants.isEmpty();
		for (QueuePosition position : lock.waitQueue()) {
			if (reading && !position.shared) {
				return;
			}
			position.ends = Math.min(position.ends, millis() + NOTIFIED_MILLIS);
			String channel = channels + position.instance;
			boolean gone = (position.shared || position.counted)
					&& this.publish.applyAsInt(channel, position.shared ? position.owner : "") == 0 && position.counted;
			if (gone || !position.shared) {
				lock.positions.remove(position);
			}
			if (!gone && !position.shared) {
				grant(lock, position, channel);
				return;
			}
			position.notified = position.shared;
			reading |= !gone;
		}
	}

	private void grant(Lock lock, QueuePosition position, String channel) {
		nextToken(lock);
		this.publish.applyAsInt(channel, "%s|%s|%s|%s|%s".formatted(position.owner, lock.token,
				this.clockMicros.getAsLong(), position.ends - millis(), position.sticky ? 1 : 0));
		lock.grants
			.add(new Grant(position.owner + ":" + lock.token, false, position.ends, position.sticky ? channel : null));
		if (position.sticky && !lock.positions.isEmpty()) {
			this.publish.applyAsInt(channel, "wanted:" + position.owner);
		}
	}

	/** The state of one lock in Redis. */
	private static final class Lock {

		private final List<Grant> grants = new ArrayList<>();

		private final List<QueuePosition> positions = new ArrayList<>();

		private long token;

		void tidy(long now) {
			this.grants.removeIf((grant) -> grant.ends <= now);
			this.positions.removeIf((position) -> position.ends <= now);
		}

		boolean isUsed() {
			return !this.grants.isEmpty() || !this.positions.isEmpty();
		}

		@Nullable Grant grantOf(String owner) {
			return this.grants.stream().filter((grant) -> grant.isOf(owner)).findFirst().orElse(null);
		}

		@Nullable QueuePosition positionOf(String owner) {
			return this.positions.stream().filter((position) -> position.owner.equals(owner)).findFirst().orElse(null);
		}

		List<QueuePosition> waitQueue() {
			return this.positions.stream().sorted(Comparator.comparingLong((position) -> position.number)).toList();
		}

		/** Returns the time until which others hold the lock at most, or 0. */
		long heldUntil(boolean shared) {
			return this.grants.stream()
				.filter((grant) -> !(shared && grant.shared))
				.mapToLong((grant) -> grant.ends)
				.max()
				.orElse(0);
		}

		/** Returns the time until which earlier waiters exclude a claim at most, or 0. */
		long keptUntil(@Nullable QueuePosition own, boolean shared, boolean fair) {
			return waitQueue().stream()
				.takeWhile((position) -> !Objects.equals(position, own))
				.filter((position) -> !(shared && position.shared)
						&& (fair || position.fair || shared || position.notified))
				.mapToLong((position) -> position.ends)
				.max()
				.orElse(0);
		}

	}

	/** A lease of one owner. */
	private static final class Grant {

		private final String value;

		private final boolean shared;

		/** {@code null} unless the lease is sticky. */
		private @Nullable String channel;

		private long ends;

		Grant(String value, boolean shared, long ends, @Nullable String channel) {
			this.value = value;
			this.shared = shared;
			this.ends = ends;
			this.channel = channel;
		}

		String owner() {
			return this.value.substring(0, this.value.lastIndexOf(':'));
		}

		boolean isOf(String owner) {
			return this.value.startsWith(owner + ":");
		}

		long token() {
			return Long.parseLong(this.value.substring(this.value.lastIndexOf(':') + 1));
		}

	}

	/** The position of one waiter in the wait queue. */
	private static final class QueuePosition {

		private final long number;

		private final String owner;

		private final boolean shared;

		private final boolean fair;

		private final boolean counted;

		private final boolean sticky;

		private final String instance;

		/** Whether the lock is kept for this reader. */
		private boolean notified;

		private long ends;

		QueuePosition(long number, String owner, boolean shared, boolean fair, boolean counted, boolean sticky,
				String instance) {
			this.number = number;
			this.owner = owner;
			this.shared = shared;
			this.fair = fair;
			this.counted = counted;
			this.sticky = sticky;
			this.instance = instance;
		}

	}

}
