package io.holdfast.lock;

import java.util.concurrent.ForkJoinWorkerThread;

/**
 * Counts the tasks of a {@code ForkJoinPool} that one of its threads has started and not
 * completed. While a task waits for another one, by {@code join} or in a parallel stream,
 * its thread runs further tasks on the same stack, even unrelated ones.
 */
final class StackedTasks {

	private static final StackWalker STACK = StackWalker.getInstance();

	private StackedTasks() {
	}

	/**
	 * Returns how many tasks the current thread has started; 0 on all other threads, at
	 * no cost.
	 */
	static int count() {
		return possible() ? STACK.walk((frames) -> (int) frames.filter(StackedTasks::runsTask).count()) : 0;
	}

	/** Returns whether the current thread runs such tasks; a virtual thread does not. */
	static boolean possible() {
		return Thread.currentThread() instanceof ForkJoinWorkerThread;
	}

	/** Returns whether a frame is that of the one method that runs every task. */
	private static boolean runsTask(StackWalker.StackFrame frame) {
		return frame.getMethodName().equals("doExec")
				&& frame.getClassName().equals("java.util.concurrent.ForkJoinTask");
	}

}
