package io.holdfast.lock.support;

/**
 * Threads of Holdfast. All of them are daemons, so none keeps a JVM from ending.
 */
public final class Threads {

	private Threads() {
	}

	/**
	 * Creates a daemon thread.
	 * @param name the name of the thread
	 * @param task what it runs
	 * @return the thread, not started
	 */
	public static Thread daemon(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		return thread;
	}

}
