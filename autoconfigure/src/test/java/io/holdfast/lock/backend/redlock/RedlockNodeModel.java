package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.backend.redlock.RedlockLockModel.Part;
import io.holdfast.lock.backend.redlock.RedlockLockModel.QueuePosition;

/**
 * Java model of the Redlock scripts on one node, with the same keys, arguments and
 * results. A node that restarts has lost all data.
 */
final class RedlockNodeModel {

	/** Exceeds the number of every attempt. */
	private static final long RENEWED = (1L << 53) - 1;

	private final LongSupplier clockMicros;

	/**
	 * Sends a message to a channel, and returns whether anyone has subscribed to it.
	 */
	private final BiPredicate<String, String> publisher;

	private final Map<String, RedlockLockModel> locks = new TreeMap<>();

	private final String name;

	private String run;

	private int runs;

	private @Nullable String memory;

	private @Nullable String admitted;

	private long longest;

	private long highest;

	private long floor;

	RedlockNodeModel(String name, LongSupplier clockMicros, BiPredicate<String, String> publisher) {
		this.name = name;
		this.run = name;
		this.clockMicros = clockMicros;
		this.publisher = publisher;
	}

	/** Admits the node, as an operator does or as happens after a first quarantine. */
	void admit() {
		admit(micros());
	}

	void admit(long lowestToken) {
		unproven("first");
		this.admitted = this.memory;
		this.floor = lowestToken;
	}

	void restart() {
		this.run = this.name + "-" + ++this.runs;
		this.locks.clear();
		this.memory = null;
		this.admitted = null;
		this.longest = 0;
		this.highest = 0;
		this.floor = 0;
	}

	Collection<String> leftovers() {
		this.locks.values().forEach((lock) -> lock.tidy(millis()));
		return this.locks.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().isUsed())
			.map((entry) -> this.run + " " + entry.getKey() + " " + entry.getValue())
			.toList();
	}

	List<Object> run(RedisScript script, List<Object> keys, Object... args) {
		List<String> names = keys.stream().map(String::valueOf).toList();
		List<String> texts = new ArrayList<>();
		for (Object arg : args) {
			texts.add(String.valueOf(arg));
		}
		if (script == RedlockScripts.ACQUIRE) {
			return acquire(names.get(0), texts);
		}
		if (script == RedlockScripts.AGREE) {
			return agree(names.get(0), texts);
		}
		if (script == RedlockScripts.RENEW) {
			return renew(names, texts);
		}
		if (script == RedlockScripts.RELEASE) {
			return release(names.get(0), texts);
		}
		if (script == RedlockScripts.LOOK) {
			return List.of((unproven(texts.get(0)) != null) ? 0L : 1L, this.longest, this.highest);
		}
		return (script == RedlockScripts.ADMIT) ? admit(texts) : probe(texts);
	}

	private long micros() {
		return this.clockMicros.getAsLong();
	}

	private long millis() {
		return micros() / 1_000;
	}

	private @Nullable String unproven(String random) {
		if (this.memory != null && this.memory.startsWith(this.run + "/")) {
			return Objects.equals(this.memory, this.admitted) ? null : this.memory;
		}
		this.memory = this.run + "/" + random;
		this.admitted = null;
		return this.memory;
	}

	private @Nullable List<Object> noVote(List<String> args) {
		String name = args.get(1).equals("1") ? unproven(args.get(0)) : null;
		return (name != null) ? List.of(-1L, name, this.run) : null;
	}

	/** Returns a vote, which ends with the run id. */
	private List<Object> vote(Object... items) {
		List<Object> vote = new ArrayList<>(List.of(items));
		vote.add(this.run);
		return vote;
	}

	private RedlockLockModel lock(String stem) {
		RedlockLockModel lock = this.locks.computeIfAbsent(stem, (key) -> new RedlockLockModel());
		lock.tidy(millis());
		return lock;
	}

	private List<Object> acquire(String stem, List<String> args) {
		List<Object> noVote = noVote(args);
		if (noVote != null) {
			return noVote;
		}
		String owner = args.get(2);
		long lease = Long.parseLong(args.get(3));
		long attempt = Long.parseLong(args.get(4));
		boolean shared = args.get(6).equals("SHARED");
		long known = Math.max(this.longest, lease);
		RedlockLockModel lock = lock(stem);
		String channel = (args.size() > 11) ? args.get(11) : null;
		boolean wanted = channel != null && lock.hasOtherWaiter(owner);
		Part mine = lock.parts.get(owner);
		if (mine != null) {
			this.longest = known;
			long token = (!mine.shared() || mine.token() == lock.token) ? mine.token() : nextToken(lock);
			lock.parts.put(owner, new Part(mine.shared(), Math.max(mine.attempt(), attempt), token, millis() + lease,
					(channel != null && !mine.shared()) ? channel : mine.channel()));
			boolean before = mine.attempt() < attempt || mine.attempt() > attempt + 1;
			return vote(1L, token, known, before ? 1L : 0L, (wanted && !mine.shared()) ? 1L : 0L);
		}
		String blocker = lock.blocker(owner, shared);
		if (blocker != null) {
			boolean demanded = demand(blocker, lock.parts.get(blocker), "");
			lock.updatePosition(owner, millis(), attempt, Long.parseLong(args.get(10)), args.subList(6, 10));
			return vote(0L, lock.rest(shared, millis()), known, blocker, demanded ? 1L : 0L, micros(), lock.token);
		}
		lock.positions.remove(owner);
		this.longest = known;
		long token = nextToken(lock);
		lock.parts.put(owner, new Part(shared, attempt, token, millis() + lease, shared ? null : channel));
		return vote(1L, token, known, 0L, wanted ? 1L : 0L);
	}

	/** Asks the instance with a sticky lease to release it, unless it asks itself. */
	private boolean demand(String owner, @Nullable Part part, String askingChannel) {
		String channel = (part != null) ? part.channel() : null;
		if (channel == null || channel.equals(askingChannel)) {
			return false;
		}
		this.publisher.test(channel, "wanted:" + owner);
		return true;
	}

	private long nextToken(RedlockLockModel lock) {
		lock.token = tokenAfter(lock);
		this.highest = Math.max(this.highest, lock.token);
		return lock.token;
	}

	private long tokenAfter(RedlockLockModel lock) {
		long token = (lock.token > 0) ? lock.token + 1 : Math.max(micros(), this.highest + 1);
		return Math.max(token, this.floor);
	}

	private List<Object> agree(String stem, List<String> args) {
		List<Object> noVote = noVote(args);
		if (noVote != null) {
			return noVote;
		}
		RedlockLockModel lock = lock(stem);
		Part mine = lock.parts.get(args.get(2));
		if (mine == null) {
			return vote(0L, 0L);
		}
		long agreed = Long.parseLong(args.get(3));
		long greatest = Math.max(mine.token(), lock.token);
		if (agreed < greatest || (agreed == greatest && mine.token() != agreed)) {
			return vote(0L, greatest);
		}
		this.highest = Math.max(this.highest, agreed);
		lock.token = agreed;
		lock.parts.put(args.get(2), mine.with(agreed, mine.ends()));
		return vote(1L);
	}

	private List<Object> renew(List<String> keys, List<String> args) {
		List<Object> noVote = noVote(args);
		if (noVote != null) {
			return noVote;
		}
		List<Object> answer = new ArrayList<>(List.of(1L));
		for (int i = 1; i < keys.size(); i++) {
			RedlockLockModel lock = lock(keys.get(i).replaceAll("-readers$", ""));
			String owner = args.get(3 * i - 1);
			boolean shared = args.get(3 * i + 1).equals("SHARED");
			Part mine = lock.parts.get(owner);
			boolean found = mine != null && mine.shared() == shared;
			if (found) {
				long lease = Long.parseLong(args.get(3 * i));
				lock.parts.put(owner, new Part(mine.shared(), RENEWED, mine.token(), millis() + lease, mine.channel()));
				this.longest = Math.max(this.longest, lease);
			}
			answer.add(found ? 1L : 0L);
		}
		return vote(answer.toArray());
	}

	private List<Object> release(String stem, List<String> args) {
		String owner = args.get(2);
		long last = Long.parseLong(args.get(3));
		long position = Long.parseLong(args.get(5));
		RedlockLockModel lock = lock(stem);
		Part mine = lock.parts.get(owner);
		boolean found = mine != null && (last < 0 || mine.attempt() <= last);
		if (found) {
			lock.parts.remove(owner);
			demand(owner, mine, args.get(8) + args.get(7));
		}
		if (position == 0 || found) {
			lock.updatePosition(owner, millis(), Math.max(last, 0), 0, args.subList(4, 8));
		}
		if (!args.get(9).equals("0")) {
			notify(lock, args.get(8), Long.parseLong(args.get(9)), noVote(args) == null);
		}
		return List.of(found ? 1L : 0L);
	}

	private void notify(RedlockLockModel lock, String channels, long millis, boolean votes) {
		if (lock.parts.values().stream().anyMatch((part) -> !part.shared())) {
			return;
		}
		boolean reading = !lock.parts.isEmpty();
		for (Map.Entry<String, QueuePosition> waiter : lock.inOrder()) {
			QueuePosition position = waiter.getValue();
			if (!position.shared() && (reading || position.number() == 0)) {
				return;
			}
			boolean subscribed = position.number() == 0
					|| ((votes && position.kept() > 0) ? keep(lock, waiter.getKey(), position, channels)
							: this.publisher.test(channels + position.instance(), waiter.getKey()));
			if (!subscribed) {
				lock.positions.remove(waiter.getKey());
			}
			else if (position.number() > 0 && lock.positions.containsKey(waiter.getKey())) {
				lock.positions.put(waiter.getKey(), position.notified(Math.min(position.ends(), millis() + millis)));
			}
			if (subscribed && !position.shared()) {
				return;
			}
			reading = reading || subscribed;
		}
	}

	/** Makes a waiter the owner, unless its instance has not subscribed. */
	private boolean keep(RedlockLockModel lock, String owner, QueuePosition position, String channels) {
		long token = tokenAfter(lock);
		long kept = Math.min(position.ends() - millis(), position.kept());
		String message = "%s|%d|%d|%d|0 %s".formatted(owner, token, micros(), kept, this.run);
		if (!this.publisher.test(channels + position.instance(), message)) {
			return false;
		}
		this.longest = Math.max(this.longest, kept);
		lock.parts.put(owner, new Part(false, position.attempt() + 1, nextToken(lock), millis() + kept, null));
		lock.positions.remove(owner);
		return true;
	}

	private List<Object> admit(List<String> args) {
		String name = unproven(args.get(0));
		if (name == null) {
			return List.of(1L);
		}
		if (!name.equals(args.get(1))) {
			return List.of(0L);
		}
		this.floor = Math.max(this.floor, Math.max(micros(), Long.parseLong(args.get(3)) + 1));
		this.longest = Math.max(this.longest, Long.parseLong(args.get(2)));
		this.admitted = name;
		return List.of(1L);
	}

	private List<Object> probe(List<String> args) {
		String name = unproven(args.get(0));
		return List.of(this.run, (name != null) ? name : "", "");
	}

}
