package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the order of a wait queue.
 */
class QueueNodeNameTests {

	private static final String OWNER = "x-00000000-0000-0000-0000-000000000000-";

	@Test
	void nodesAreOrderedByTheirNumbersAndForeignOnesIgnored() {
		assertThat(queue("0000000010", "0000000009", "foreign", "99999999999")).extracting(QueueNodeName::number)
			.containsExactly(9L, 10L);
	}

	@ParameterizedTest
	@CsvSource({ "0000000000, false", "2000000000, false", "2147483647, true", "-2147483648, true" })
	void numberThatTheServerMayAssignAgainIsBeyondTheLimit(String number, boolean beyond) {
		assertThat(queue(number)).singleElement().extracting(QueueNodeName::isBeyondLimit).isEqualTo(beyond);
	}

	private static List<QueueNodeName> queue(String... endings) {
		return QueueNodeName.queue(Stream.of(endings).map(OWNER::concat).toList());
	}

}
