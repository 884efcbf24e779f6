package io.holdfast.lock.interceptor;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.Unlocked;

import static io.holdfast.lock.interceptor.LocalLocks.held;
import static io.holdfast.lock.interceptor.LocalLocks.with;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for interfaces whose methods a class inherits from a superclass that does not
 * implement the interface.
 */
class InheritedMethodTests {

	@Test
	void inheritedMethodHasTheLockOfTheInterface() {
		with(Inheriting.class, (bean) -> {
			assertThat(((Locked) bean).call("a")).isEqualTo("stock:a");
			assertThat(bean.call("a")).isEqualTo("stock:a");
			assertThat(bean.other("a")).isEqualTo("none");
		});
	}

	@Test
	void inheritedMethodHasTheLockOfAGenericInterface() {
		with(InheritingForGeneric.class, (bean) -> {
			GenericallyLocked<String> api = bean;
			assertThat(api.call("a")).isEqualTo("stock:a");
			assertThat(bean.call("a")).isEqualTo("stock:a");
			assertThat(bean.call(1)).isEqualTo("none");
		});
	}

	@Test
	void inheritedMethodIsUnlockedByItsInterface() {
		with(InheritingUnlocked.class, (bean) -> {
			assertThat(((WithUnlockedMethod) bean).call("a")).isEqualTo("none");
			assertThat(bean.call("a")).isEqualTo("none");
			assertThat(bean.other("a")).isEqualTo("stock");
		});
	}

	interface Locked {

		@DistributedLock(name = "stock", key = "#p0")
		String call(String id);

	}

	interface GenericallyLocked<T> {

		@DistributedLock(name = "stock", key = "#p0")
		String call(T id);

	}

	interface WithUnlockedMethod {

		@Unlocked
		String call(String id);

	}

	static class Base {

		public String call(String id) {
			return held();
		}

		public String call(Integer id) {
			return held();
		}

		public String other(String id) {
			return held();
		}

	}

	static class Inheriting extends Base implements Locked {

	}

	static class InheritingForGeneric extends Base implements GenericallyLocked<String> {

	}

	@DistributedLock("stock")
	static class InheritingUnlocked extends Base implements WithUnlockedMethod {

	}

}
