package io.holdfast.lock;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

import org.jspecify.annotations.Nullable;

/**
 * The holds that the current thread stands in, innermost first. Re-entry, the current
 * handle and the check before a commit all read it.
 *
 * <p>
 * A binding may be ended by any thread; all else concerns the calling thread alone.
 */
public final class LockContext {

	private static final ThreadLocal<LockContext> CURRENT = new ThreadLocal<>();

	private final Deque<LockHandle> handles = new ConcurrentLinkedDeque<>();

	private LockContext() {
	}

	/**
	 * The holds of the current thread, innermost first.
	 * @return a copy; empty if there are none
	 */
	public static List<LockHandle> handles() {
		LockContext context = CURRENT.get();
		if (context == null) {
			return List.of();
		}
		context.removeIfEmpty();
		return new ArrayList<>(context.handles);
	}

	/**
	 * The innermost hold of the current thread.
	 * @return the handle, or {@code null} if there is none
	 */
	static @Nullable LockHandle innermost() {
		LockContext context = CURRENT.get();
		return (context != null) ? context.handles.peekFirst() : null;
	}

	/**
	 * Make a hold the innermost of the current thread.
	 * @param handle the handle of the hold
	 * @return what ends this again, on whichever thread; to run it twice does nothing
	 */
	public static Runnable bind(LockHandle handle) {
		LockContext context = CURRENT.get();
		if (context == null) {
			context = new LockContext();
			CURRENT.set(context);
		}
		context.handles.addFirst(handle);
		return context.unbinding(handle);
	}

	/**
	 * Take a hold off the current thread: it lives on in its handle, for a body that ends
	 * on another thread. Does nothing if it is not bound here.
	 * @param handle the handle of the hold
	 */
	public static void unbind(LockHandle handle) {
		LockContext context = CURRENT.get();
		if (context != null) {
			handle.parts().forEach((part) -> context.unbinding(part).run());
		}
	}

	private Runnable unbinding(LockHandle handle) {
		return () -> {
			this.handles.remove(handle);
			if (CURRENT.get() == this) {
				removeIfEmpty();
			}
		};
	}

	private void removeIfEmpty() {
		if (this.handles.isEmpty()) {
			CURRENT.remove();
		}
	}

}
