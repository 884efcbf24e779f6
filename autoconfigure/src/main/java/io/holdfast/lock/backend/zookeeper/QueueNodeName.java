package io.holdfast.lock.backend.zookeeper;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;

/**
 * Name of a node in a wait queue: the kind of the claim, the owner, and the sequence
 * number that ZooKeeper assigned.
 *
 * @param name the whole name
 * @param shared whether the claim is shared
 * @param sticky whether the lease may stay with its instance while no hold uses it
 * @param owner the owner id of the claim
 * @param number the sequence number in the wait queue
 */
record QueueNodeName(String name, boolean shared, boolean sticky, String owner, long number) {

	private static final Pattern NAME = Pattern.compile("([xsk])-([0-9a-f-]{36})-(-?\\d{10})");

	/**
	 * The first sequence number that is not used. ZooKeeper assigns its greatest number
	 * repeatedly, in no order, and assigns small ones again once the wait queue was empty
	 * for about a minute.
	 */
	private static final long LIMIT = Integer.MAX_VALUE - 1_000_000L;

	/** Returns the prefix of a new node's name. */
	static String prefix(Claim claim) {
		String kind = claim.sticky() ? "k" : "x";
		return ((claim.mode() == LockMode.SHARED) ? "s" : kind) + "-" + claim.owner() + "-";
	}

	static @Nullable QueueNodeName parse(String name) {
		Matcher matcher = NAME.matcher(name);
		return matcher.matches() ? new QueueNodeName(name, matcher.group(1).equals("s"), matcher.group(1).equals("k"),
				matcher.group(2), Long.parseLong(matcher.group(3))) : null;
	}

	static @Nullable QueueNodeName ofPath(String path) {
		return parse(path.substring(path.lastIndexOf('/') + 1));
	}

	/** Returns the wait queue in order, ignoring foreign nodes. */
	static List<QueueNodeName> queue(List<String> children) {
		return children.stream()
			.map(QueueNodeName::parse)
			.filter(Objects::nonNull)
			.sorted(Comparator.comparingLong(QueueNodeName::number))
			.toList();
	}

	/** Whether the server may assign the same number again. */
	boolean isBeyondLimit() {
		return this.number >= LIMIT || this.number < 0;
	}

	boolean isOf(Claim claim) {
		return this.owner.equals(claim.owner().value());
	}

	/**
	 * Returns the nodes that must be deleted before this one holds the lock, in order:
	 * the previous ones or, for a shared claim, the exclusive ones before it. No more are
	 * added later.
	 */
	List<QueueNodeName> blockers(List<QueueNodeName> queue) {
		return queue.stream()
			.takeWhile((other) -> !other.name.equals(this.name))
			.filter((other) -> !(this.shared && other.shared))
			.toList();
	}

}
