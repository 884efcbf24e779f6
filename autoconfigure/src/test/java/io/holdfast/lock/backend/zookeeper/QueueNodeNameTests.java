package io.holdfast.lock.backend.zookeeper;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the order of a wait queue.
 */
class QueueNodeNameTests {

	private static final String OWNER = "x-00000000-0000-0000-0000-000000000000-";

	@Test
	void nodesAreOrderedByTheirNumbersAndForeignOnesIgnored() {
		assertThat(numbers("0000000010", "0000000009", "foreign", "99999999999", "-9999999999")).containsSubsequence(9,
				10);
	}

	@Test
	void orderSurvivesTheOverflowOfTheNumbers() {
		assertThat(numbers("-2147483648", "-2147483647", "2147483647", "2147483646")).containsExactly(2147483646,
				2147483647, -2147483648, -2147483647);
	}

	private static List<Integer> numbers(String... endings) {
		return QueueNodeName.queue(List.of(endings).stream().map(OWNER::concat).toList())
			.stream()
			.map(QueueNodeName::number)
			.toList();
	}

}
