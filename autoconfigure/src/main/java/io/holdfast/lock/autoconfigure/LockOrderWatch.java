package io.holdfast.lock.autoconfigure;

import java.lang.StackWalker.StackFrame;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary;

/**
 * Development aid that detects contradictory lock orders. It records in which order locks
 * are acquired while others are held. It logs a warning once when two locations in the
 * code use opposite orders. Their callers can wait for each other until one of them times
 * out.
 *
 * <p>
 * Locks with different names are compared by name, because any of their keys may meet.
 * Locks with the same name are compared by key. All other decisions are those of the
 * application's {@link TransactionBoundary}. Thread-safe, with bounded memory.
 */
final class LockOrderWatch implements TransactionBoundary {

	private static final Log logger = LogFactory.getLog(LockOrderWatch.class);

	private static final int MOST_PAIRS = 10_000;

	private static final List<String> NOT_THE_CALLER = List.of("io.holdfast.lock.engine.", "io.holdfast.lock.spi.",
			"io.holdfast.lock.transaction.", "io.holdfast.lock.interceptor.", "org.springframework.", "java.", "jdk.");

	private static final StackWalker STACK = StackWalker.getInstance();

	/** Each observed order, and the first code location that used it. */
	private final Map<Pair, String> seen = new ConcurrentHashMap<>();

	private final Set<Pair> reported = ConcurrentHashMap.newKeySet();

	private final TransactionBoundary boundary;

	LockOrderWatch(TransactionBoundary boundary) {
		this.boundary = boundary;
	}

	/**
	 * Records the order of all locks that the current thread holds and the lock that it
	 * is about to acquire.
	 */
	@Override
	public void beforeAcquire(LockName wanted) {
		for (LockHandle handle : LockContext.handles()) {
			if (!handle.lock().equals(wanted)) {
				note(Pair.of(handle.lock(), wanted));
			}
		}
		this.boundary.beforeAcquire(wanted);
	}

	@Override
	public void beforeAcquireAsync(LockName lock) {
		this.boundary.beforeAcquireAsync(lock);
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T run(LockedCall<T, E> call) throws E {
		return this.boundary.run(call);
	}

	@Override
	public SetAside setAside(List<LockName> locks) {
		return this.boundary.setAside(locks);
	}

	@Override
	public boolean defersReleases() {
		return this.boundary.defersReleases();
	}

	@Override
	public void deferRelease(DeferrableHold hold) {
		this.boundary.deferRelease(hold);
	}

	private void note(Pair order) {
		if (this.seen.size() < MOST_PAIRS && !this.seen.containsKey(order)) {
			this.seen.put(order, caller());
		}
		String opposite = this.seen.get(order.reversed());
		if (opposite != null && !this.reported.contains(order.reversed()) && this.reported.add(order)) {
			logger.warn(
					"Locks '%s' and '%s' are acquired in opposite orders, so their callers can wait for each other: '%s' while '%s' is held at %s, and the other way around at %s. Acquire them in one order everywhere, or both in one request."
						.formatted(order.held(), order.wanted(), order.wanted(), order.held(), caller(), opposite));
		}
	}

	private static String caller() {
		return STACK.walk((frames) -> frames.filter(LockOrderWatch::isCaller)
			.findFirst()
			.map(StackFrame::toStackTraceElement)
			.map(StackTraceElement::toString)
			.orElse("an unknown location"));
	}

	private static boolean isCaller(StackFrame frame) {
		String name = frame.getClassName();
		return !name.equals(LockOrderWatch.class.getName()) && !name.contains("$$")
				&& NOT_THE_CALLER.stream().noneMatch(name::startsWith);
	}

	/**
	 * An order of two locks.
	 */
	private record Pair(String held, String wanted) {

		static Pair of(LockName held, LockName wanted) {
			return held.name().equals(wanted.name()) ? new Pair(held.toString(), wanted.toString())
					: new Pair(held.name(), wanted.name());
		}

		Pair reversed() {
			return new Pair(this.wanted, this.held);
		}

	}

}
