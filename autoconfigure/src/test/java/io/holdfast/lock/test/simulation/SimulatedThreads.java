package io.holdfast.lock.test.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * A pool of simulated threads that can block, with one queue.
 */
final class SimulatedThreads implements Executor {

	private final SimulatedNode node;

	private final int most;

	private final Deque<Runnable> queue = new ArrayDeque<>();

	private final List<Coroutine> threads = new ArrayList<>();

	SimulatedThreads(SimulatedNode node, int most) {
		this.node = node;
		this.most = most;
	}

	@Override
	public void execute(Runnable task) {
		this.queue.add(task);
		if (this.threads.size() < this.most) {
			Coroutine thread = new Coroutine(this.node, this::work);
			this.threads.add(thread);
			this.node.execute(thread::start);
		}
	}

	private void work(Coroutine self) {
		Runnable task;
		while ((task = this.queue.poll()) != null) {
			task.run();
		}
		this.threads.remove(self);
	}

	void close() {
		this.queue.clear();
		List.copyOf(this.threads).forEach(Coroutine::abandon);
	}

}
