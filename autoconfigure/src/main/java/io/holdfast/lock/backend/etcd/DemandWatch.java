package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.support.Stages;

/**
 * Watches the wait queue of a lock whose holder has a sticky lease, and signals once when
 * another claim has entered it: that claim demands the lease, even if it does not wait
 * and leaves at once. Also signals when this watch can no longer report a demand.
 *
 * <p>
 * Like a {@link KeyWatch}, the watch starts now. Once it is established, the queue is
 * read if it may have changed since the grant. That misses a claim that has left by then,
 * but its caller asks once more with a position in the queue. The watch ends with the
 * first demand, so the other waiters of a contended lock cause no further events.
 */
final class DemandWatch extends EtcdWatch {

	private final EtcdCalls calls;

	private final String queue;

	private final String key;

	private final QueuePosition position;

	private final Runnable keyGone;

	private DemandWatch(EtcdCalls calls, String queue, String key, QueuePosition position, Runnable keyGone) {
		this.calls = calls;
		this.queue = queue;
		this.key = key;
		this.position = position;
		this.keyGone = keyGone;
	}

	/**
	 * Starts a watch.
	 * @param queue the prefix of the keys in the wait queue
	 * @param key the key of the holder
	 * @param position the position of the holder, which is the first one
	 * @param keyGone called once, before the signal, when the holder's key was deleted by
	 * someone else: close the watch before deleting the key
	 */
	static DemandWatch on(EtcdCalls calls, String queue, String key, QueuePosition position, Runnable keyGone) {
		DemandWatch watch = new DemandWatch(calls, queue, key, position, keyGone);
		watch.started(calls.watchAll(queue, watch));
		return watch;
	}

	@Override
	public void created(long revision) {
		if (revision != this.position.seenAt()) {
			this.calls.readPredecessor(this.key, this.position.revision(), this.queue).whenComplete((now, failure) -> {
				if (failure != null && Stages.cause(failure) instanceof EtcdCalls.KeyGoneException) {
					endAfter(this.keyGone);
				}
				else if (failure != null || now.wanted()) {
					end();
				}
			});
		}
	}

	@Override
	public void written(String key, long revision) {
		// the holder may have attached its own key to another lease before the grant
		if (isNews(revision) && !key.equals(this.key)) {
			end();
		}
	}

	@Override
	public void deleted(String key, long revision) {
		if (isNews(revision) && key.equals(this.key)) {
			endAfter(this.keyGone);
		}
	}

	/**
	 * Whether an event follows the creation of the holder's key. Names of keys are used
	 * again, so an earlier event may be about an earlier key of the same name.
	 */
	private boolean isNews(long revision) {
		return revision > this.position.revision();
	}

}
