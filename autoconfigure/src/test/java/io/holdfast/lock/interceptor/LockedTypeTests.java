package io.holdfast.lock.interceptor;

import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockedType}, with beans as those of Spring Data, whose class does not
 * implement their interface.
 */
class LockedTypeTests {

	private static Object repository(Object target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.addInterface(Repository.class);
		return factory.getProxy();
	}

	@Test
	void annotationsOfTheInterfaceApply() {
		assertThat(LockedType.of(repository(new Plain()))).isEqualTo(Repository.class);
	}

	@Test
	void annotationsOfTheClassBehindTheInterfaceAreRejected() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> LockedType.of(repository(new Locked())))
			.withMessageContainingAll(Repository.class.getName(), Locked.class.getName(), "in the interface");
	}

	interface Base {

		default void touch() {
		}

	}

	interface Repository {

		@DistributedLock("sale")
		void sell();

	}

	static class Plain implements Base {

	}

	static class Locked implements Base {

		@Override
		@DistributedLock("sale")
		public void touch() {
		}

	}

}
