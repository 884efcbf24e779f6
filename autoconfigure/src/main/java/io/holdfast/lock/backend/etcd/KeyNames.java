package io.holdfast.lock.backend.etcd;

import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.spi.Claim;

/**
 * The names of the keys that claims of this JVM use at the moment: for each lock and kind
 * of claim the smallest numbers. etcd remembers every name until its next compaction and
 * visits it in each read of a wait queue, so names are used again. The value of a key
 * tells whose it is.
 */
final class KeyNames {

	private final EtcdKeys keys;

	private final Map<String, BitSet> used = new ConcurrentHashMap<>();

	KeyNames(EtcdKeys keys) {
		this.keys = keys;
	}

	/** Takes a name that no other claim uses. */
	String take(Claim claim) {
		String prefix = this.keys.prefix(claim);
		int[] number = new int[1];
		this.used.compute(prefix, (key, present) -> {
			BitSet numbers = (present != null) ? present : new BitSet();
			number[0] = numbers.nextClearBit(0);
			numbers.set(number[0]);
			return numbers;
		});
		return prefix + number[0];
	}

	/** Returns a name. etcd must not have the key, and no request may create it. */
	void free(String name) {
		int end = name.lastIndexOf('.') + 1;
		this.used.computeIfPresent(name.substring(0, end), (key, numbers) -> {
			numbers.clear(Integer.parseInt(name.substring(end)));
			return numbers.isEmpty() ? null : numbers;
		});
	}

	/** Whether no name is used. */
	boolean isEmpty() {
		return this.used.isEmpty();
	}

}
