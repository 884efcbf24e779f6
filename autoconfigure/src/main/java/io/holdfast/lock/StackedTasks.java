package io.holdfast.lock;

import java.util.concurrent.ForkJoinWorkerThread;

/**
 * The tasks of a {@code ForkJoinPool} that one of its threads has begun and not ended.
 * While a task waits for another, by {@code join} or in a parallel stream, its thread
 * runs further tasks, whosever they are, on the same stack.
 */
final class StackedTasks {

	private static final StackWalker STACK = StackWalker.getInstance();

	private StackedTasks() {
	}

	/** How many the current thread has begun; 0 on all other threads, at no cost. */
	static int count() {
		return possible() ? STACK.walk((frames) -> (int) frames.filter(StackedTasks::runsTask).count()) : 0;
	}

	/** Whether the current thread runs such tasks; a virtual one does not. */
	static boolean possible() {
		return Thread.currentThread() instanceof ForkJoinWorkerThread;
	}

	/** The one method through which every task is run. */
	private static boolean runsTask(StackWalker.StackFrame frame) {
		return frame.getMethodName().equals("doExec")
				&& frame.getClassName().equals("java.util.concurrent.ForkJoinTask");
	}

}
