package io.holdfast.lock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.interceptor.LockKeyTests.method;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for key expressions that fail in every call, and for those that fail in one.
 */
class KeyThatNeverWorksTests {

	private final LockMethodSpecs specs = new LockMethodSpecs((text) -> text, null);

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			type | its key "T(java.lang.Sys).x()" refers to the type 'java.lang.Sys', which does not exist
			typeInPart | refers to the type 'Sys', which does not exist. Correct the name, with its package
			argument | refers to the argument 2, but the method has 1 parameter. The first argument is args[0]
			construction | refers to the type 'java.lang.Sys', which does not exist. Correct the name, with its package
			arrayConstruction | refers to the type 'Sys', which does not exist
			bareArgument | refers to the argument 2, but the method has 1 parameter. The first argument is args[0]
			argumentOfCall | refers to the argument 2, but the method has 1 parameter
			elements | refers to the type 'Sys', which does not exist
			nullSafe | refers to the type 'Sys', which does not exist
			noArgument | refers to the argument 0, but the method has 0 parameters
			method | its key "#id.foo(1)" calls 'foo' with 1 argument, which the type String does not have
			arguments | calls 'substring' with 3 arguments, which the type String does not have
			primitive | calls 'foo' with 0 arguments, which the type Long does not have
			property | refers to 'value', which the type Long does not have
			""")
	void startFails(String method, String message) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.specs.get(method(Never.class, method), Never.class))
			.withMessageContaining("@DistributedLock on " + Never.class.getName() + "." + method + "(")
			.withMessageContaining(message);
	}

	@ParameterizedTest
	@ValueSource(strings = { "type", "array", "nested", "argument", "condition", "substring", "varargs", "number",
			"subclass", "optional", "staticMethod", "text", "construction", "bareArgument", "elements", "nullSafe" })
	void startSucceeds(String method) {
		assertThat(this.specs.get(method(Sometimes.class, method), Sometimes.class)).isNotNull();
	}

	@Test
	void exceptionOfTheExpressionNamesTheMethod() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call("division", 0))
			.withMessageContaining("@DistributedLock on " + Sometimes.class.getName() + ".division(int): ")
			.withMessageContaining(
					"its key \"1 / #id\" could not be evaluated: ArithmeticException: / by zero. The method did not run.")
			.withCauseExactlyInstanceOf(ArithmeticException.class);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call("thrown", new Thrower()))
			.withMessageContaining("\"#thrower.fail()\" could not be evaluated: UnsupportedOperationException: no id.")
			.withCauseExactlyInstanceOf(UnsupportedOperationException.class);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call("parsed", "x"))
			.withMessageContaining("could not be evaluated: NumberFormatException: For input string");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call("getter", new Thrower()))
			.withMessageContaining("\"#thrower.id\" could not be evaluated: UnsupportedOperationException: no id.")
			.withCauseExactlyInstanceOf(UnsupportedOperationException.class);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> call("part", 0))
			.withMessageContaining("its key \"1 / #id\" could not be evaluated");
	}

	/** A caller treats it as one of the locked method itself. */
	@Test
	void lockThatABeanOfTheExpressionDoesNotGetIsReportedAsSuch() {
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> call("locked", new Thrower()));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> call("lockedGetter", new Thrower()));
	}

	private LockRequest call(String method, Object argument) {
		return this.specs.get(method(Sometimes.class, method), Sometimes.class)
			.request(new Sometimes(), Sometimes.class, new Object[] { argument });
	}

	static class Thrower {

		public String getId() {
			return fail();
		}

		public String getLock() {
			return lock();
		}

		public String fail() {
			throw new UnsupportedOperationException("no id");
		}

		public String lock() {
			throw new LockNotAcquiredException(LockName.of("stock"), "local", Duration.ZERO,
					LockNotAcquiredException.Reason.HELD, "Held by another");
		}

	}

	static class Never {

		@DistributedLock(name = "k", key = "T(java.lang.Sys).x()")
		public void type() {
		}

		@DistributedLock(name = "k", keys = { "#id", "'a' + T(Sys).x()" })
		public void typeInPart(String id) {
		}

		@DistributedLock(name = "k", key = "#root.args[2]")
		public void argument(String id) {
		}

		@DistributedLock(name = "k", key = "new java.lang.Sys(#id)")
		public void construction(String id) {
		}

		@DistributedLock(name = "k", key = "new Sys[]{#id}")
		public void arrayConstruction(String id) {
		}

		@DistributedLock(name = "k", key = "args[2]")
		public void bareArgument(String id) {
		}

		@DistributedLock(name = "k", key = "#id.concat(args[2])")
		public void argumentOfCall(String id) {
		}

		@DistributedLock(name = "k", key = "#ids.![T(Sys).x(#this)]")
		public void elements(List<String> ids) {
		}

		@DistributedLock(name = "k", key = "#id?.concat(T(Sys).x())")
		public void nullSafe(String id) {
		}

		@DistributedLock(name = "k", key = "#root.args[0]")
		public void noArgument() {
		}

		@DistributedLock(name = "k", key = "#id.foo(1)")
		public void method(String id) {
		}

		@DistributedLock(name = "k", key = "#id.substring(1, 2, 3)")
		public void arguments(String id) {
		}

		@DistributedLock(name = "k", key = "#p0.foo()")
		public void primitive(long id) {
		}

		@DistributedLock(name = "k", key = "#id.value")
		public void property(long id) {
		}

	}

	static class Sometimes {

		@DistributedLock(name = "k", key = "T(Math).abs(#id) + T(java.util.Map.Entry).simpleName")
		public void type(int id) {
		}

		@DistributedLock(name = "k", key = "T(int[]).name + T(String[]).name + T(long).name")
		public void array(int id) {
		}

		@DistributedLock(name = "k", key = "T(java.util.Map$Entry).name")
		public void nested(int id) {
		}

		@DistributedLock(name = "k",
				keys = { "#root.args.length > 2 ? #root.args[2] : #root.args[0]", "#root.args[0] ?: #root.args[1]",
						"#root.args.length > 1 and #root.args[1] == 1 or #root.args.length == 1" })
		public void condition(int id) {
		}

		@DistributedLock(name = "k", key = "#root.args[0] + #root.args.length")
		public void argument(int id) {
		}

		@DistributedLock(name = "k", keys = { "new String('a')", "new java.math.BigDecimal(#id)", "new int[]{#id, 2}",
				"new String[]{'a'}", "new int[3]" })
		public void construction(int id) {
		}

		@DistributedLock(name = "k", keys = { "args[0]", "args.length > 1 ? args[1] : 'none'" })
		public void bareArgument(int id) {
		}

		@DistributedLock(name = "k", keys = { "#ids.![a.b.c]", "#ids.![args[7]]", "#ids.?[unknown > args[7]]",
				"#ids.^[x].y", "#ids.![#this.foo()]" })
		public void elements(List<Map<String, Object>> ids) {
		}

		@DistributedLock(name = "k", keys = { "#value?.foo", "#value?.foo?.bar(1)", "#value?.get(#value.foo)" })
		public void nullSafe(Map<String, Object> value) {
		}

		@DistributedLock(name = "k", key = "#id.substring(1, 2)")
		public void substring(String id) {
		}

		@DistributedLock(name = "k", key = "#id.formatted(1, 2, 3)")
		public void varargs(String id) {
		}

		@DistributedLock(name = "k", key = "#id.toString() + #id.hashCode() + #id.class.name")
		public void number(long id) {
		}

		@DistributedLock(name = "k", key = "#id.foo()")
		public void subclass(Number id) {
		}

		@DistributedLock(name = "k", key = "#id.length() + #id.bytes.length + #id.empty")
		public void text(String id) {
		}

		@DistributedLock(name = "k", key = "#id.foo()")
		public void optional(Optional<String> id) {
		}

		@DistributedLock(name = "k", key = "#type.valueOf(1)")
		public void staticMethod(Class<?> type) {
		}

		@DistributedLock(name = "k", key = "1 / #id")
		public void division(int id) {
		}

		@DistributedLock(name = "k", key = "T(Integer).parseInt(#id) + T(java.lang.Long).parseLong(#id)")
		public void parsed(String id) {
		}

		@DistributedLock(name = "k", keys = { "#id", "1 / #id" })
		public void part(int id) {
		}

		@DistributedLock(name = "k", key = "#thrower.fail()")
		public void thrown(Thrower thrower) {
		}

		@DistributedLock(name = "k", key = "#thrower.id")
		public void getter(Thrower thrower) {
		}

		@DistributedLock(name = "k", key = "#thrower.lock")
		public void lockedGetter(Thrower thrower) {
		}

		@DistributedLock(name = "k", key = "#thrower.lock()")
		public void locked(Thrower thrower) {
		}

	}

}
