package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a key identifies the protected resource: unrelated calls do not share a
 * lock, and calls for the same resource do.
 */
class LockKeyTests {

	private final LockMethodSpecs specs = new LockMethodSpecs((text) -> text, null);

	static Method method(Class<?> type, String name) {
		return Arrays.stream(type.getDeclaredMethods())
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private List<String> keys(String method, Object... arguments) {
		return this.specs.get(method(Bean.class, method), Bean.class)
			.request(new Bean(), Bean.class, arguments)
			.locks()
			.keySet()
			.stream()
			.map((lock) -> String.valueOf(lock.key()))
			.toList();
	}

	private void refused(String message, String method, Object... arguments) {
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> keys(method, arguments))
			.withMessageContaining("@DistributedLock on " + Bean.class.getName() + "." + method + "(")
			.withMessageContaining(message)
			.withMessageContaining("The method did not run");
	}

	static Stream<Object> values() {
		return Stream.of(42, 42L, new BigDecimal("1.50"), "text", 'c', true, DayOfWeek.MONDAY, UUID.randomUUID(),
				LocalDate.of(2026, 1, 1), new Point(1, "joe@cafe"), new StringBuilder("text"), Bean.class);
	}

	@ParameterizedTest
	@MethodSource("values")
	void valueWithATextOfItsOwnIsAKey(Object value) {
		assertThat(keys("any", value)).containsExactly(value.toString());
	}

	@Test
	void valueWithoutATextOfItsOwnIsRefused() {
		refused("whose only text is that of Object.toString()", "any", new Order());
		refused("Use a value that identifies it, such as its id", "any", List.of(new Order()));
		refused("whose only text is that of Object.toString()", "any", List.of(List.of(new Order())));
		refused("whose only text is that of Object.toString()", "any", new TreeMap<>(Map.of("a", new Order())));
		refused("whose only text is that of Object.toString()", "any", new Wrapper(new Order()));
		refused("whose only text is that of Object.toString()", "any", Optional.of(new Order()));
		refused("whose only text is that of Object.toString()", "text", new Order());
	}

	@Test
	void valueWhoseTextCannotBeDeterminedIsRefused() {
		String message = "could not be converted to a text: IllegalStateException: not loaded. Use a value that identifies it, such as its id";
		refused("its key \"#value\" " + message, "any", new Unloaded());
		refused("has an element that " + message, "any", List.of(new Unloaded()));
		refused("has a part that " + message, "text", new Unloaded());
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> keys("any", new Unloaded()))
			.withRootCauseExactlyInstanceOf(IllegalStateException.class);
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> keys("text", new Unloaded()))
			.withRootCauseExactlyInstanceOf(IllegalStateException.class);
	}

	@Test
	void keyThatCannotBeSeenIsBlank() {
		refused("its key \"#value\" is blank", "any", "\u00a0");
		refused("has an element that is blank", "any", List.of("\u200b"));
	}

	@Test
	void optionalIsItsContent() {
		assertThat(keys("any", Optional.of(42))).containsExactly("42");
		assertThat(keys("any", OptionalLong.of(42))).containsExactly("42");
		refused("is an empty Optional", "any", Optional.empty());
		refused("is an empty Optional", "any", OptionalLong.empty());
		refused("is an empty Optional", "any", List.of(1, Optional.empty()));
	}

	@Test
	void valueWhoseTextDependsOnTheJvmIsRefused() {
		refused("whose order may differ between JVMs", "any", Map.of("a", 1));
		refused("or a sorted copy (a TreeSet or TreeMap)", "any", new Tags(Set.of("a")));
		refused("whose order may differ between JVMs", "anyParts", Map.of("a", 1), 1);
	}

	@Test
	void valueWithinALongerTextHasTheTextOfAKey() {
		assertThat(keys("text", new Date(0))).containsExactly("a-1970-01-01T00:00:00Z-z");
		assertThat(keys("text", Optional.of(List.of(1, 2)))).containsExactly("a-[1, 2]-z");
		refused("has a part that is or contains a", "text", Set.of("a"));
		refused("whose order may differ between JVMs", "text", Map.of("a", 1));
	}

	@Test
	void elementsOfASetAreSeveralLocks() {
		assertThat(keys("any", Set.of(2, 1))).containsExactly("1", "2");
	}

	@Test
	void nullWithinALongerTextIsRefused() {
		assertThat(keys("text", "annulled")).containsExactly("a-annulled-z");
		assertThat(keys("text", "null")).containsExactly("a-null-z");
		refused("has a part, #value, that is null", "text", new Object[] { null });
		refused("is an empty Optional", "text", Optional.empty());
		assertThat(keys("several", "x", "y")).containsExactly("a-x", "b-y");
		refused("has a part, #two, that is null", "several", "x", null);
	}

	@Test
	void nullInAnAlternativeThatDoesNotApplyIsIgnored() {
		assertThat(keys("ternary", null, "annulled")).containsExactly("status-annulled");
		assertThat(keys("ternary", "null", "open")).containsExactly("region-null");
		refused("has a part, #status, that is null", "ternary", null, null);
		assertThat(keys("elvis", "annulled", null)).containsExactly("annulled");
		refused("has a part, #status, that is null", "elvis", "", null);
	}

	@Test
	void partsOfAKeyAreJoinedSoThatDifferentPartsDiffer() {
		assertThat(keys("compound", "a", 1L)).containsExactly("a,1");
		assertThat(keys("twoTexts", "a,b", "c")).containsExactly("a\\,b,c");
		assertThat(keys("twoTexts", "a", "b,c")).containsExactly("a,b\\,c");
		assertThat(keys("twoTexts", "a\\", "b")).isNotEqualTo(keys("twoTexts", "a", "\\b"));
		refused("\"#id\" is null", "compound", "a", null);
		refused("has several values, but a part of a key has one", "anyParts", List.of(1), 1);
	}

	@Test
	void listOfDifferentTypesIsNotTakenForOneKey() {
		refused("keys = {", "listed", "tenant", 1L);
		assertThat(keys("transfer", 2L, 1L)).containsExactly("1", "2");
	}

	@ParameterizedTest
	@ValueSource(strings = { "inText", "positionInText", "nameAsText", "nameAsProperty", "nameWithinAText",
			"noToString", "arrayOfThose", "listOfThose", "arraysOfThoseInList", "unordered", "both" })
	void keyThatCannotIdentifyStopsTheStart(String method) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.specs.get(method(Bad.class, method), Bad.class))
			.withMessageContaining("@DistributedLock on " + Bad.class.getName() + "." + method + "(")
			.withMessageMatching(
					"(?s).*(Write it outside the quotes|Write #orderId|Use a value that identifies|Use 'keys' for).*");
	}

	/** Spring's variable is the second argument, not the parameter with that name. */
	@Test
	void nameThatIsThePositionOfAnotherParameterStopsTheStart() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.specs.get(method(Bad.class, "distance"), Bad.class))
			.withMessageContaining(
					"uses #p1, which is the name of one parameter and the position of another. Use #a0 or #a1 instead");
		assertThat(keys("samePosition", "x", "y")).containsExactly("y");
	}

	@Test
	void bytesAreNotTakenForManyKeys() {
		refused("is a byte[], each element of which would be a separate lock", "any", (Object) new byte[] { 1, 2 });
	}

	@Test
	void tooLongAKeyAndTooManyKeysNameTheMethod() {
		refused("the maximum is 512", "any", "x".repeat(513));
		refused("A request names 1001 locks", "any", Stream.iterate(0, (i) -> i + 1).limit(1001).toList());
	}

	@ParameterizedTest
	@ValueSource(strings = { "constant", "hash", "rootProperty", "projection", "mapIndex", "interfaceType", "chosen" })
	void keyThatMayIdentifyDoesNot(String method) {
		assertThat(this.specs.get(method(Good.class, method), Good.class)).isNotNull();
	}

	record Point(int x, String y) {

	}

	record Wrapper(Order order) {

	}

	record Tags(Set<String> tags) {

	}

	static class Unloaded {

		@Override
		public String toString() {
			throw new IllegalStateException("not loaded");
		}

	}

	static class Order {

		public long getId() {
			return 1;
		}

	}

	static class Bean {

		@DistributedLock(name = "k", key = "#value")
		public void any(Object value) {
		}

		@DistributedLock(name = "k", key = "'a-' + #value + '-z'")
		public void text(Object value) {
		}

		@DistributedLock(name = "k", key = "{'a-' + #one, 'b-' + #two}")
		public void several(String one, String two) {
		}

		@DistributedLock(name = "k", key = "#region != null ? 'region-' + #region : 'status-' + #status")
		public void ternary(String region, String status) {
		}

		@DistributedLock(name = "k", key = "#code ?: 'status-' + #status")
		public void elvis(String code, String status) {
		}

		@DistributedLock(name = "k", keys = { "#tenant", "#id" })
		public void compound(String tenant, Long id) {
		}

		@DistributedLock(name = "k", keys = { "#one", "#two" })
		public void twoTexts(String one, String two) {
		}

		@DistributedLock(name = "k", keys = { "#one", "#two" })
		public void anyParts(Object one, Object two) {
		}

		@DistributedLock(name = "k", key = "#p1")
		public void samePosition(String p0, String p1) {
		}

		@DistributedLock(name = "k", key = "{#tenant, #id}")
		public void listed(String tenant, Long id) {
		}

		@DistributedLock(name = "k", key = "{#from, #to}")
		public void transfer(Long from, Long to) {
		}

	}

	static class Bad {

		@DistributedLock(name = "k", key = "'order-#orderId'")
		public void inText(long orderId) {
		}

		@DistributedLock(name = "k", key = "'order-#p0'")
		public void positionInText(long orderId) {
		}

		@DistributedLock(name = "k", key = "'orderId'")
		public void nameAsText(long orderId) {
		}

		@DistributedLock(name = "k", key = "orderId")
		public void nameAsProperty(long orderId) {
		}

		@DistributedLock(name = "k", key = "'order-' + orderId")
		public void nameWithinAText(long orderId) {
		}

		@DistributedLock(name = "k", key = "#order")
		public void noToString(Order order) {
		}

		@DistributedLock(name = "k", key = "#p0")
		public void arrayOfThose(Order[] orders) {
		}

		@DistributedLock(name = "k", key = "#orders")
		public void listOfThose(List<Order> orders) {
		}

		@DistributedLock(name = "k", key = "#orders")
		public void arraysOfThoseInList(List<Order[]> orders) {
		}

		@DistributedLock(name = "k", key = "#orders")
		public void unordered(HashMap<String, String> orders) {
		}

		@DistributedLock(name = "k", key = "'from-' + #p1")
		public void distance(String p1, String p2) {
		}

		@DistributedLock(name = "k", key = "#orderId", keys = "#orderId")
		public void both(long orderId) {
		}

	}

	static class Good {

		@DistributedLock(name = "k", key = "'all'")
		public void constant(long orderId) {
		}

		@DistributedLock(name = "k", key = "'release#main'")
		public void hash(long orderId) {
		}

		@DistributedLock(name = "k", key = "methodName + ':' + args[0]")
		public void rootProperty(long orderId) {
		}

		@DistributedLock(name = "k", key = "#orders.![id]")
		public void projection(List<Order> orders) {
		}

		@DistributedLock(name = "k", key = "#order[id]")
		public void mapIndex(Map<String, Long> order) {
		}

		@DistributedLock(name = "k", key = "#id")
		public void interfaceType(CharSequence id) {
		}

		@DistributedLock(name = "k", key = "#id == 'id' ? 'orderId' : #id")
		public void chosen(String id, String orderId) {
		}

	}

}
