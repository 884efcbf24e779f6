package io.holdfast.lock.interceptor;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Remembers the classes of beans from their instantiation until their initialization.
 * Thread-safe. Each thread has its own beans, because the beans of one name that several
 * threads create, such as prototypes, may have several classes.
 */
final class CreatedClasses {

	/**
	 * By the names of the beans. Weak, because a bean that fails stays here, and its
	 * thread may outlive the application.
	 */
	private final ThreadLocal<@Nullable Map<String, WeakReference<Class<?>>>> classes = new ThreadLocal<>();

	void put(String beanName, Class<?> type) {
		Map<String, WeakReference<Class<?>>> present = this.classes.get();
		if (present == null) {
			present = new HashMap<>();
			this.classes.set(present);
		}
		present.put(beanName, new WeakReference<>(type));
	}

	@Nullable Class<?> remove(String beanName) {
		Map<String, WeakReference<Class<?>>> present = this.classes.get();
		WeakReference<Class<?>> type = (present != null) ? present.remove(beanName) : null;
		if (present != null && present.isEmpty()) {
			this.classes.remove();
		}
		return (type != null) ? type.get() : null;
	}

}
