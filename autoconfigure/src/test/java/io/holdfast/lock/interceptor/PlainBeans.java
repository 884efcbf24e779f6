package io.holdfast.lock.interceptor;

import java.lang.reflect.Proxy;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;

import io.holdfast.lock.DistributedLock;

/**
 * An interface and its implementations, whose method answers with the lock that it runs
 * under.
 */
final class PlainBeans {

	private PlainBeans() {
	}

	interface Plain {

		String run();

	}

	interface Locked extends Plain {

		@Override
		@DistributedLock("interface")
		String run();

	}

	static class LockedPlain implements Plain {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.held();
		}

	}

	static class LockedDifferently implements Locked {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.held();
		}

	}

	/** Replaces the beans with plain proxies, before they get their locks. */
	static class Wrapper implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return 0;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return !(bean instanceof Plain plain) ? bean : Proxy.newProxyInstance(Plain.class.getClassLoader(),
					new Class<?>[] { Plain.class }, (proxy, method, arguments) -> plain.run());
		}

	}

}
