package io.holdfast.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockHandle;

/**
 * Records in each process when a transaction ran under which lock, and until when a check
 * of that lock would have passed. Times are of the monotonic clock, which all processes
 * of a machine share and which no fault moves.
 */
@Configuration(proxyBeanMethods = false)
class TransactionRecorder {

	/** The name of the file in the directory of the process. */
	static final String FILE = "transactions.csv";

	private static final long SAMPLE_MILLIS = 20;

	@Bean
	static TransactionExecutionListener recordingListener() {
		Map<TransactionExecution, Hold> holds = new ConcurrentHashMap<>();
		ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "transaction-recorder");
			thread.setDaemon(true);
			return thread;
		});
		sampler.scheduleWithFixedDelay(() -> holds.values().forEach(Hold::sample), SAMPLE_MILLIS, SAMPLE_MILLIS,
				TimeUnit.MILLISECONDS);
		return new TransactionExecutionListener() {

			@Override
			public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
				if (failure == null) {
					LockHandle.current().ifPresent((handle) -> holds.put(transaction, new Hold(handle)));
				}
			}

			@Override
			public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
				finish(transaction);
			}

			@Override
			public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
				finish(transaction);
			}

			private void finish(TransactionExecution transaction) {
				Hold hold = holds.remove(transaction);
				if (hold != null) {
					hold.write();
				}
			}

		};
	}

	/** One transaction under a lock. */
	private static final class Hold {

		private final LockHandle handle;

		private final long begin = System.nanoTime();

		/** The time until which a check passes, by the last sample. */
		private volatile long validUntil = this.begin;

		private volatile long lostAt = Long.MAX_VALUE;

		Hold(LockHandle handle) {
			this.handle = handle;
			handle.onLost((event) -> this.lostAt = Math.min(this.lostAt, System.nanoTime()));
			sample();
		}

		void sample() {
			long now = System.nanoTime();
			long remaining = this.handle.remainingValidity().toNanos();
			if (remaining > 0) {
				this.validUntil = now + remaining;
			}
		}

		/**
		 * Writes the record before the lock is released, so the holder has relied on it
		 * until now.
		 */
		void write() {
			long end = System.nanoTime();
			boolean held = this.handle.isHeld();
			long passes = held ? end : Math.min(end, Math.min(this.validUntil, this.lostAt));
			try {
				Files.writeString(Path.of(FILE), "%s,%d,%d,%d%n".formatted(this.handle.lock(), this.begin, end, passes),
						StandardOpenOption.CREATE, StandardOpenOption.APPEND);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
