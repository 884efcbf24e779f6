package io.holdfast.lock.support;

import reactor.core.scheduler.Schedulers;

import org.springframework.util.ClassUtils;

/**
 * Threads of Reactor that must not block, such as event loops, as {@code Mono.block()}
 * sees them. Reactor is optional.
 */
public final class NonBlockingThreads {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.scheduler.Schedulers",
			NonBlockingThreads.class.getClassLoader());

	private NonBlockingThreads() {
	}

	/**
	 * Returns whether the calling thread must not block.
	 * @return {@code false} if it may block, or without Reactor
	 */
	public static boolean includeCurrent() {
		return REACTOR_PRESENT && Reactor.includesCurrent();
	}

	/**
	 * Is loaded only with Reactor.
	 */
	private static final class Reactor {

		static boolean includesCurrent() {
			return Schedulers.isInNonBlockingThread();
		}

	}

}
