package io.holdfast.lock.autoconfigure;

import java.util.Collection;
import java.util.function.Predicate;
import java.util.stream.Stream;

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
		Collection<GenericApplicationListener> all = Stream
			.iterate(context, (each) -> each != null, ApplicationContext::getParent)
			.filter(AbstractApplicationContext.class::isInstance)
			.flatMap((each) -> ((AbstractApplicationContext) each).getApplicationListeners().stream())
			.map(LockEventListeners::generic)
			.filter((listener) -> !supports(Unrelated.class).test(listener))
			.toList();
		return new LockEventListeners(all.stream().anyMatch(supports(LockAcquiredEvent.class)),
				all.stream().anyMatch(supports(LockNotAcquiredEvent.class)),
				all.stream().anyMatch(supports(LockReleasedEvent.class)));
	}

	private static GenericApplicationListener generic(ApplicationListener<?> listener) {
		return (listener instanceof GenericApplicationListener generic) ? generic
				: new GenericApplicationListenerAdapter(listener);
	}

	private static Predicate<GenericApplicationListener> supports(Class<?> event) {
		ResolvableType type = ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, event);
		return (listener) -> listener.supportsEventType(type);
	}

	boolean any() {
		return this.acquired || this.notAcquired || this.released;
	}

	/** An event that only listeners for any type support. */
	private record Unrelated() {

	}

}
