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
 * The name of a node in a lock's line: the mode, the owner, and the number that ZooKeeper
 * gave it.
 *
 * @param name the whole name
 * @param shared whether it reads
 * @param owner whose it is
 * @param number its number in the line
 */
record QueueNodeName(String name, boolean shared, String owner, long number) {

	private static final Pattern NAME = Pattern.compile("([xs])-([0-9a-f-]{36})-(-?\\d{10})");

	/** What a new node's name begins with. */
	static String prefix(Claim claim) {
		return ((claim.mode() == LockMode.SHARED) ? "s-" : "x-") + claim.owner() + "-";
	}

	static @Nullable QueueNodeName parse(String name) {
		Matcher matcher = NAME.matcher(name);
		return matcher.matches()
				? new QueueNodeName(name, matcher.group(1).equals("s"), matcher.group(2), Long.parseLong(matcher.group(3)))
				: null;
	}

	/** The line in its order; what is not of ours in it is passed over. */
	static List<QueueNodeName> queue(List<String> children) {
		return children.stream()
			.map(QueueNodeName::parse)
			.filter(Objects::nonNull)
			.sorted(Comparator.comparingLong(QueueNodeName::number))
			.toList();
	}

	boolean isOf(Claim claim) {
		return this.owner.equals(claim.owner().value());
	}

	/**
	 * Who must go before this one may hold: the next before it, or for a reader the last
	 * writer before it. Watching that one alone, a release wakes one and not all.
	 */
	@Nullable QueueNodeName blockedBy(List<QueueNodeName> queue) {
		QueueNodeName before = null;
		for (QueueNodeName other : queue) {
			if (other.name.equals(this.name)) {
				return before;
			}
			if (!(this.shared && other.shared)) {
				before = other;
			}
		}
		return before;
	}

}
