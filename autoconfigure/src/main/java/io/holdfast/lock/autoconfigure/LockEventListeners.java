package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

import io.holdfast.lock.LockAcquiredEvent;
import io.holdfast.lock.LockNotAcquiredEvent;
import io.holdfast.lock.LockReleasedEvent;

/**
 * The types of events for which the application has listeners. A listener for events of
 * any type does not count, because each application has some that ignore most of them.
 *
 * @param acquired whether there is a listener for {@link LockAcquiredEvent}
 * @param notAcquired whether there is a listener for {@link LockNotAcquiredEvent}
 * @param released whether there is a listener for {@link LockReleasedEvent}
 */
record LockEventListeners(boolean acquired, boolean notAcquired, boolean released) {

	/** There may be listeners for all types. */
	static final LockEventListeners ALL = new LockEventListeners(true, true, true);

	/** Looks for listeners in a context and its parents, which get the same events. */
	static LockEventListeners of(ApplicationContext context) {
		List<Predicate<ResolvableType>> all = Stream
			.iterate(context, (each) -> each != null, ApplicationContext::getParent)
			.filter(AbstractApplicationContext.class::isInstance)
			.map(AbstractApplicationContext.class::cast)
			.flatMap((each) -> Stream.concat(created(each), defined(each.getBeanFactory())))
			.filter((listener) -> !listener.test(published(Unrelated.class)))
			.toList();
		return new LockEventListeners(supported(LockAcquiredEvent.class, all),
				supported(LockNotAcquiredEvent.class, all), supported(LockReleasedEvent.class, all));
	}

	private static Stream<Predicate<ResolvableType>> created(AbstractApplicationContext context) {
		return context.getApplicationListeners()
			.stream()
			.map((listener) -> (listener instanceof GenericApplicationListener generic) ? generic
					: new GenericApplicationListenerAdapter(listener))
			.map((listener) -> listener::supportsEventType);
	}

	/**
	 * Returns the listeners as their bean definitions show them. Spring creates some of
	 * them only to notify them of their first event. The class of others, such as
	 * lambdas, does not show the type of the event.
	 */
	private static Stream<Predicate<ResolvableType>> defined(ConfigurableListableBeanFactory beans) {
		return Stream.of(beans.getBeanNamesForType(ApplicationListener.class, true, false))
			.filter(beans::containsBeanDefinition)
			.map((name) -> beans.getMergedBeanDefinition(name).getResolvableType())
			.map((type) -> type.as(ApplicationListener.class).getGeneric()::isAssignableFrom);
	}

	private static boolean supported(Class<?> event, List<Predicate<ResolvableType>> listeners) {
		return listeners.stream().anyMatch((listener) -> listener.test(published(event)));
	}

	private static ResolvableType published(Class<?> event) {
		return ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, event);
	}

	boolean any() {
		return this.acquired || this.notAcquired || this.released;
	}

	/** An event that only listeners for any type support. */
	private record Unrelated() {

	}

}
