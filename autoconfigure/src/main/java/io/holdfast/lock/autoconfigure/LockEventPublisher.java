package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockAcquiredEvent;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredEvent;
import io.holdfast.lock.LockReleasedEvent;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.Threads;

/**
 * Publishes events of locks to the application's event listeners: each loss, and what
 * else there is a listener for.
 *
 * <p>
 * Events are published one after the other on a dedicated thread. The thread that detects
 * a loss also renews all other leases, so a slow listener on that thread could make them
 * expire. Losses are always published. Other events are dropped while
 * {@value #MOST_WAITING} wait for slow listeners. The thread terminates after
 * {@value #IDLE_SECONDS} idle seconds.
 */
final class LockEventPublisher implements LockObserver, ApplicationListener<ContextRefreshedEvent>, DisposableBean {

	private static final GuardedLog logger = GuardedLog.of(LockEventPublisher.class);

	private static final int IDLE_SECONDS = 5;

	private static final int LAST_NEWS_SECONDS = 2;

	private static final int MOST_WAITING = 10_000;

	private final ApplicationEventPublisher publisher;

	private final ThreadPoolExecutor executor;

	private final AtomicBoolean dropping = new AtomicBoolean();

	/** The events that have listeners; {@code null} until all listeners are known. */
	private volatile @Nullable LockEventListeners listeners;

	LockEventPublisher(ApplicationEventPublisher publisher) {
		this(publisher, Threads.daemons(() -> "holdfast-events"));
	}

	LockEventPublisher(ApplicationEventPublisher publisher, ThreadFactory threads) {
		this.publisher = publisher;
		this.executor = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				threads);
		this.executor.allowCoreThreadTimeOut(true);
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		this.listeners = LockEventListeners.of(event.getApplicationContext());
	}

	@Override
	public LockObservation observe(LockName lock, String backend) {
		LockEventListeners known = this.listeners;
		LockEventListeners wanted = (known != null) ? known : LockEventListeners.ALL;
		return wanted.any() ? new Publishing(lock, backend, wanted) : LockObservation.NONE;
	}

	/** Publishes a loss on this thread if the system cannot create another. */
	@Override
	public void lost(LockLostEvent event) {
		try {
			publishLater(event.lock(), event);
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread could be created to publish the loss of lock '%s', so this thread publishes it"
				.formatted(event.lock()), ex);
			publish(event.lock(), event);
		}
	}

	private void publishUnlessTooMany(LockName lock, Object event) {
		if (this.executor.getQueue().size() < MOST_WAITING) {
			this.dropping.set(false);
			publishLater(lock, event);
		}
		else if (this.dropping.compareAndSet(false, true)) {
			logger.warn(
					"Event listeners are slower than the events of locks: %s wait. Further events, except losses, are dropped until fewer wait. Make the listeners faster, or move their work to another thread."
						.formatted(MOST_WAITING));
		}
	}

	private void publishLater(LockName lock, Object event) {
		try {
			this.executor.execute(() -> publish(lock, event));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The application has stopped. No listener is notified of " + event);
		}
	}

	private void publish(LockName lock, Object event) {
		try {
			this.publisher.publishEvent(event);
		}
		catch (Throwable ex) {
			// Kotlin throws checked exceptions undeclared
			logger.error("A listener for %s of lock '%s' failed".formatted(event.getClass().getSimpleName(), lock), ex);
		}
	}

	/**
	 * Waits up to {@value #LAST_NEWS_SECONDS} seconds for the listeners of losses that
	 * occurred while the application stopped.
	 */
	@Override
	public void destroy() throws InterruptedException {
		this.executor.shutdown();
		this.executor.awaitTermination(LAST_NEWS_SECONDS, TimeUnit.SECONDS);
	}

	/** Publishes the events of one acquisition and its hold. */
	private final class Publishing implements LockObservation {

		private final LockName lock;

		private final String backend;

		private final LockEventListeners wanted;

		private volatile @Nullable FencingToken token;

		Publishing(LockName lock, String backend, LockEventListeners wanted) {
			this.lock = lock;
			this.backend = backend;
			this.wanted = wanted;
		}

		@Override
		public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
			this.token = token;
			if (this.wanted.acquired()) {
				publishUnlessTooMany(this.lock, new LockAcquiredEvent(this.lock, this.backend, token, waited));
			}
		}

		@Override
		public void notGranted(AcquireOutcome outcome, Duration waited) {
			if (this.wanted.notAcquired()) {
				publishUnlessTooMany(this.lock, new LockNotAcquiredEvent(this.lock, this.backend,
						outcome.name().toLowerCase(Locale.ROOT), waited));
			}
		}

		@Override
		public void released(Duration held) {
			FencingToken own = this.token;
			if (this.wanted.released() && own != null) {
				publishUnlessTooMany(this.lock, new LockReleasedEvent(this.lock, this.backend, own, held));
			}
		}

	}

}
