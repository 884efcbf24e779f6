package io.holdfast.lock.support;

import java.math.BigDecimal;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.Principal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.support.KeyText.NotAKeyException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link KeyText}: two JVMs produce the same text for the same value, or none.
 */
class KeyTextTests {

	static Stream<Object> unordered() {
		return Stream.of(Set.of("a"), Map.of("a", 1), new HashSet<>(), new HashMap<>(), new LinkedHashSet<>(),
				Collections.unmodifiableCollection(new TreeSet<>()));
	}

	static Stream<Object> moments() {
		Instant instant = Instant.ofEpochMilli(1_767_225_600_123L);
		GregorianCalendar calendar = new GregorianCalendar(TimeZone.getTimeZone("Asia/Tokyo"));
		calendar.setTime(Date.from(instant));
		return Stream.of(instant, Date.from(instant), java.sql.Timestamp.from(instant), calendar);
	}

	private static void refused(Object value) {
		assertThatExceptionOfType(NotAKeyException.class).isThrownBy(() -> KeyText.of(value));
	}

	@ParameterizedTest
	@MethodSource("unordered")
	void unorderedCollectionIsRejectedAtAnyDepth(Object value) {
		refused(value);
		refused(Optional.of(value));
		refused(List.of(1, value));
		refused(new Object[] { value });
		refused(new TreeMap<>(Map.of("a", value)));
		refused(Map.entry("a", value));
		refused(new Part(1, value));
		refused(List.of(Optional.of(List.of(new Part(1, value)))));
	}

	@Test
	void fixedOrderIsKept() {
		assertThat(KeyText.of(new TreeSet<>(Set.of(10, 9)))).isEqualTo("[9, 10]");
		assertThat(KeyText.of(new TreeMap<>(Map.of("b", 1, "a", 2)))).isEqualTo("{a=2, b=1}");
		assertThat(KeyText.of(EnumSet.of(Size.SMALL, Size.LARGE))).isEqualTo("[LARGE, SMALL]");
		assertThat(KeyText.of(new EnumMap<>(Map.of(Size.SMALL, 1, Size.LARGE, 2)))).isEqualTo("{LARGE=2, SMALL=1}");
		assertThat(KeyText.of(new ArrayDeque<>(List.of(2, 1)))).isEqualTo("[2, 1]");
		assertThat(KeyText.of(new int[][] { { 2 }, { 1 } })).isEqualTo("[[2], [1]]");
	}

	@Test
	void textOfItsOwnIsKept() {
		for (Object value : List.of("text", 42L, new BigDecimal("1.50"), URI.create("urn:a"), Locale.GERMANY,
				new Part(1, List.of("a", "b")), new Part(2, Optional.of("x")), Arrays.asList(1, null),
				new Named(Set.of("a", "b")))) {
			assertThat(KeyText.of(value)).isEqualTo(value.toString());
		}
	}

	@Test
	void enumConstantHasItsName() {
		assertThat(KeyText.of(Size.SMALL)).isEqualTo("SMALL");
		assertThat(KeyText.of(new Part(1, Size.SMALL))).isEqualTo("Part[id=1, value=SMALL]");
	}

	@ParameterizedTest
	@MethodSource("moments")
	void momentHasTheSameTextInEveryTimeZone(Object moment) {
		TimeZone before = TimeZone.getDefault();
		try {
			for (String zone : List.of("UTC", "Asia/Tokyo")) {
				TimeZone.setDefault(TimeZone.getTimeZone(zone));
				assertThat(KeyText.of(moment)).isEqualTo("2026-01-01T00:00:00.123Z");
				assertThat(KeyText.of(List.of(moment))).isEqualTo("[2026-01-01T00:00:00.123Z]");
			}
		}
		finally {
			TimeZone.setDefault(before);
		}
	}

	/** An address has or lacks a host name, depending on how it was created or used. */
	@Test
	void equalAddressesHaveTheSameText() throws UnknownHostException {
		InetAddress four = InetAddress.getByAddress(new byte[] { 10, 0, 0, 1 });
		InetAddress named = InetAddress.getByAddress("client", four.getAddress());
		assertThat(named).isEqualTo(four);
		assertThat(KeyText.of(named)).isEqualTo(KeyText.of(four)).isEqualTo("10.0.0.1");
		assertThat(KeyText.of(new Part(1, new InetSocketAddress(named, 80))))
			.isEqualTo("Part[id=1, value=10.0.0.1:80]");
		byte[] local = InetAddress.getByName("fe80::1").getAddress();
		assertThat(KeyText.of(Inet6Address.getByAddress("client", local, 2))).isEqualTo("fe80:0:0:0:0:0:0:1");
		assertThat(KeyText.of(InetSocketAddress.createUnresolved("Client", 80))).isEqualTo("client:80");
	}

	@Test
	void sqlDateAndTimeAreRejected() {
		refused(java.sql.Date.valueOf("2026-01-01"));
		refused(java.sql.Time.valueOf("10:00:00"));
		assertThat(KeyText.problem(java.sql.Date.class)).contains("toLocalDate()");
		assertThat(KeyText.problem(java.sql.Time.class)).isNotNull();
		assertThat(KeyText.problem(java.sql.Timestamp.class)).isNull();
	}

	@Test
	void identityBasedTextIsRejected() {
		refused(new CompletableFuture<>());
		refused(List.of(new CompletableFuture<>()));
		assertThat(KeyText.of(new StringBuilder("joe@cafe"))).isEqualTo("joe@cafe");
	}

	/** A generated {@code toString()} prints its fields. */
	@Test
	void identityOfAPartIsRejected() {
		assertThatExceptionOfType(NotAKeyException.class).isThrownBy(() -> KeyText.of(printed(Plain::new)))
			.withMessageContaining(Plain.class.getName())
			.withMessageContaining(Printed.class.getName());
		refused(List.of(printed(Plain::new)));
		refused(printed(() -> new String[] { "a" }));
		refused(printed(() -> new byte[0][0]));
		refused(printed(Object::new));
		for (Object text : List.of("joe@cafe00", "joe.doe@cafe00", "Joe.Doe@cafe00", "joe.doe@cafe00.example",
				"java.lang.String@cafe00", "[joe@cafe00]", "[S@10, M@2024]")) {
			assertThat(KeyText.of(new Printed(text))).isEqualTo("Printed(value=" + text + ")");
		}
	}

	/** A lambda has no name by which its class could be loaded. */
	@Test
	void identityOfALambdaInAPartIsRejected() {
		Printed lambda = printed(() -> {
			Object captured = new Object();
			return (Supplier<Object>) () -> captured;
		});
		assertThatExceptionOfType(NotAKeyException.class).isThrownBy(() -> KeyText.of(lambda))
			.withMessageContaining(Printed.class.getName())
			.withMessageContaining(KeyTextTests.class.getName() + "$$Lambda");
	}

	/** One of thirty thousand hashes is as short as a number that a text may contain. */
	private static Printed printed(Supplier<Object> value) {
		return new Printed(Stream.generate(value)
			.filter((object) -> System.identityHashCode(object) > 0xFFFF)
			.findFirst()
			.orElseThrow());
	}

	/** Otherwise, a text of a user chooses the lock of another one. */
	@Test
	void partsCannotBeMistakenForOthers() {
		differ(new Part(1, new Pair("x, second=y", "z")), new Part(1, new Pair("x", "y, second=z")));
		differ(List.of("a, b"), List.of("a", "b"));
		differ(List.of("a\\", "b"), List.of("a\\, b"));
		differ(List.of(List.of("a", "b"), List.of("c")), List.of(List.of("a", "b], [c")));
		differ(List.of(List.of("a", "b]"), List.of("c")), List.of(List.of("a"), List.of("b]", "c")));
		differ(List.of(List.of("[a", "b")), List.of(List.of(List.of("a"), "b")));
		differ(Map.entry("a=b", "c"), Map.entry("a", "b=c"));
		differ(new TreeMap<>(Map.of("a", "b, c=d")), new TreeMap<>(Map.of("a", "b", "c", "d")));
		differ(List.of(Optional.of("a, b")), List.of(Optional.of("a"), "b"));
		assertThat(KeyText.of(new Pair("x, y", "[z]"))).isEqualTo("Pair[first=x\\, y, second=\\[z\\]]");
		assertThat(KeyText.of(new StringBuilder("a, b"))).isEqualTo("a, b");
	}

	/** Java 17 writes it with more digits than Java 25. */
	@Test
	void largeNumberHasTheSameTextInEveryVersionOfJava() {
		assertThat(KeyText.of(6.9734162033406728E16)).isEqualTo("69734162033406728");
		assertThat(KeyText.of(List.of(-5.0289888E7f))).isEqualTo("[-50289888]");
		assertThat(KeyText.of(Optional.of(9007199254740991.0))).isEqualTo("9.007199254740991E15");
		assertThat(KeyText.of(0.1f)).isEqualTo("0.1");
		assertThat(KeyText.of(Double.POSITIVE_INFINITY)).isEqualTo("Infinity");
	}

	private static void differ(Object one, Object another) {
		assertThat(KeyText.of(one)).isNotEqualTo(KeyText.of(another));
	}

	record Pair(String first, String second) {

	}

	@Test
	void emptyContentIsRejectedAtAnyDepth() {
		refused(new AtomicReference<>(Optional.empty()));
		refused(Optional.of(new AtomicReference<>()));
		refused(new AtomicReference<>(new AtomicReference<>(OptionalDouble.empty())));
		AtomicReference<Object> itself = new AtomicReference<>();
		itself.set(itself);
		refused(itself);
		assertThat(KeyText.of(new AtomicReference<>(Optional.of("a")))).isEqualTo("a");
	}

	@Test
	void referenceIsItsContent() {
		refused(new AtomicReference<>(new Plain()));
		refused(new Part(1, new AtomicReference<>(new HashSet<>())));
		refused(new AtomicReference<>());
		assertThat(KeyText.of(new AtomicReference<>("a"))).isEqualTo("a");
		assertThat(KeyText.of(List.of(new AtomicReference<>(new int[] { 1, 2 })))).isEqualTo("[[1, 2]]");
	}

	/** The text of the one of Spring Security contains the session and the address. */
	@Test
	void principalIsItsName() {
		assertThat(KeyText.of(new Login("jo,e", "session 1"))).isEqualTo("jo,e");
		assertThat(KeyText.of(Optional.of(new Login("joe", "session 2")))).isEqualTo("joe");
		assertThat(KeyText.of(List.of(new Login("jo,e", "session 1")))).isEqualTo("[jo\\,e]");
		assertThat(KeyText.of((Principal) () -> "joe")).isEqualTo("joe");
		assertThat(KeyText.problem(WithoutText.class)).isNull();
		assertThat(KeyText.of(new Member("shop", "joe"))).isEqualTo("Member[tenant=shop, name=joe]");
		assertThat(KeyText.of(Role.ADMIN)).isEqualTo("ADMIN");
		refused(new Login(null, "session 1"));
		refused(new Login(WithoutText.class.getName() + "@1b2c3d4e", "session 1"));
	}

	@Test
	void missingTextIsRejected() {
		Object silent = new Object() {
			@Override
			public String toString() {
				return null;
			}
		};
		refused(silent);
		refused(List.of(1, silent));
	}

	@Test
	void optionalNumberIsItsContent() {
		assertThat(KeyText.of(OptionalDouble.of(1.5))).isEqualTo("1.5");
		refused(OptionalDouble.empty());
	}

	@Test
	void valueThatContainsItselfIsRejected() {
		List<Object> list = new ArrayList<>();
		list.add(list);
		refused(list);
		refused(new Part(1, list));
	}

	@Test
	void textOfAUserMayLookLikeAnIdentity() {
		assertThat(KeyText.of(new Part(1, "java.lang.Object@1f"))).isEqualTo("Part[id=1, value=java.lang.Object@1f]");
		assertThat(KeyText.of(List.of("[B@1f"))).isEqualTo("[\\[B@1f]");
		String long1 = "a.".repeat(200_000) + "a@1f";
		assertThat(KeyText.of(new Printed(long1))).endsWith(long1 + ")");
	}

	enum Size {

		LARGE, SMALL;

		@Override
		public String toString() {
			return name().toLowerCase(Locale.getDefault());
		}

	}

	static class Plain {

	}

	static class Printed {

		private final Object value;

		Printed(Object value) {
			this.value = value;
		}

		@Override
		public String toString() {
			return "Printed(value=" + this.value + ")";
		}

	}

	record Part(int id, Object value) {

	}

	record Named(Set<String> tags) {

		@Override
		public String toString() {
			return "named";
		}

	}

	/** Kotlin boxes a value class only where it is nullable, generic or in a list. */
	@Test
	void boxedValueClassHasTheTextOfItsUnboxedValue() throws Exception {
		Object boxed = kotlin.ULong.class.getMethod("box-impl", long.class).invoke(null, -1L);
		assertThat(KeyText.of(boxed)).isEqualTo(KeyText.of(-1L)).isEqualTo("-1");
		assertThat(KeyText.of(List.of(boxed))).isEqualTo(KeyText.of(List.of(-1L)));
		assertThat(KeyText.of(Optional.of(boxed))).isEqualTo("-1");
	}

	@Test
	void boxedValueClassHasNoTextIfItsUnboxedValueHasNone() throws Exception {
		refused(kotlin.Result.class.getMethod("box-impl", Object.class).invoke(null, new Object()));
	}

	private static class WithoutText implements Principal {

		@Override
		public String getName() {
			return "joe";
		}

	}

	private static final class Login extends WithoutText {

		private final String name;

		private final String session;

		Login(String name, String session) {
			this.name = name;
			this.session = session;
		}

		@Override
		public String getName() {
			return this.name;
		}

		@Override
		public String toString() {
			return this.name + " in " + this.session;
		}

	}

	private record Member(String tenant, String name) implements Principal {

		@Override
		public String getName() {
			return this.name;
		}

	}

	private enum Role implements Principal {

		ADMIN;

		@Override
		public String getName() {
			return "administrator";
		}

	}

}
