package io.holdfast.lock;

import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SingleLock}.
 */
class SingleLockTests {

	private static final LockName LOCK = LockName.of("stock", 42);

	private static final LockName OTHER = LockName.of("stock", 43);

	private final SortedMap<LockName, LockMode> tree = new TreeMap<>(Map.of(LOCK, LockMode.SHARED));

	private final SortedMap<LockName, LockMode> single = SingleLock.copyOf(this.tree);

	@Test
	void mapEqualsATreeOfTheSameLock() {
		assertThat(this.single).isInstanceOf(SingleLock.class)
			.isEqualTo(this.tree)
			.hasSameHashCodeAs(this.tree)
			.hasToString(this.tree.toString())
			.containsExactly(Map.entry(LOCK, LockMode.SHARED))
			.doesNotContainKey(OTHER);
		assertThat(this.tree).isEqualTo(this.single);
		assertThat(this.single.get(OTHER)).isNull();
		assertThat(this.single.firstKey()).isSameAs(this.single.lastKey()).isEqualTo(LOCK);
	}

	@Test
	void partsOfTheMapAreThoseOfATree() {
		assertThat(this.single.headMap(LOCK)).isEqualTo(this.tree.headMap(LOCK)).isEmpty();
		assertThat(this.single.headMap(OTHER)).isEqualTo(this.tree.headMap(OTHER)).hasSize(1);
		assertThat(this.single.tailMap(OTHER)).isEqualTo(this.tree.tailMap(OTHER)).isEmpty();
		assertThat(this.single.subMap(LOCK, OTHER)).isEqualTo(this.tree.subMap(LOCK, OTHER)).hasSize(1);
	}

	/** Callers that name the same locks in two orders would wait for each other. */
	@Test
	void orderOfTheMapIsNotThatOfTheRequest() {
		SortedMap<LockName, LockMode> reversed = new TreeMap<>(Comparator.reverseOrder());
		reversed.putAll(Map.of(LOCK, LockMode.EXCLUSIVE, OTHER, LockMode.SHARED));
		LockRequest request = new LockRequest(reversed, null, null, true, null, Duration.ZERO, false, null, null);
		assertThat(request.locks()).containsExactly(Map.entry(LOCK, LockMode.EXCLUSIVE),
				Map.entry(OTHER, LockMode.SHARED));
		assertThat(request.lock()).isEqualTo(LOCK);
	}

	@Test
	void mapCannotBeChanged() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.single.put(OTHER, LockMode.SHARED));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.single::clear);
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.single.headMap(OTHER).clear());
	}

}
