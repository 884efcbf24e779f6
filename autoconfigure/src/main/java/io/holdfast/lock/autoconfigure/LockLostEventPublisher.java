package io.holdfast.lock.autoconfigure;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Publishes each {@link LockLostEvent} to the application's event listeners.
 *
 * <p>
 * Events are published one after the other on a dedicated thread. The thread that detects
 * a loss also renews all other leases, so a slow listener on that thread could make them
 * expire. The dedicated thread terminates after {@value #IDLE_SECONDS} idle seconds.
 */
final class LockLostEventPublisher implements LockObserver, DisposableBean {

	private static final Log logger = LogFactory.getLog(LockLostEventPublisher.class);

	private static final int IDLE_SECONDS = 5;

	private static final int LAST_NEWS_SECONDS = 2;

	private final ApplicationEventPublisher publisher;

	private final ThreadPoolExecutor executor;

	LockLostEventPublisher(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
		CustomizableThreadFactory threads = new CustomizableThreadFactory("holdfast-lost-");
		threads.setDaemon(true);
		this.executor = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				threads);
		this.executor.allowCoreThreadTimeOut(true);
	}

	@Override
	public void lost(LockLostEvent event) {
		try {
			this.executor.execute(() -> publish(event));
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The application has stopped. No listener is notified of the loss of lock " + event.lock());
		}
	}

	private void publish(LockLostEvent event) {
		try {
			this.publisher.publishEvent(event);
		}
		catch (RuntimeException ex) {
			logger.error("A listener for the loss of lock '%s' failed".formatted(event.lock()), ex);
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

}
