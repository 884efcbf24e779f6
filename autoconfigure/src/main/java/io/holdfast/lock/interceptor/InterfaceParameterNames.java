package io.holdfast.lock.interceptor;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;

/**
 * Discovers parameter names on the interface method that a method implements. Lambdas and
 * proxies have no parameter names of their own.
 */
final class InterfaceParameterNames implements ParameterNameDiscoverer {

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	/**
	 * Returns a discoverer of the names of a method itself, or else those of its
	 * interface.
	 */
	static ParameterNameDiscoverer orOwn() {
		DefaultParameterNameDiscoverer own = new DefaultParameterNameDiscoverer();
		own.addDiscoverer(new InterfaceParameterNames());
		return own;
	}

	@Override
	public @Nullable String @Nullable [] getParameterNames(Method method) {
		for (Class<?> type : ClassUtils.getAllInterfacesForClass(method.getDeclaringClass())) {
			Method declared = ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
			@Nullable String[] found = (declared != null) ? this.names.getParameterNames(declared) : null;
			if (found != null) {
				return found;
			}
		}
		return null;
	}

	@Override
	public @Nullable String @Nullable [] getParameterNames(Constructor<?> constructor) {
		return null;
	}

}
