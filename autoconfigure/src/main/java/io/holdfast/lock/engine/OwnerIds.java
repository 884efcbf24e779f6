package io.holdfast.lock.engine;

import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.OwnerId;

/**
 * Creates the owner ids of an engine. Several of them share a random number of the
 * operating system, because a request to the system costs more than all else that an
 * acquisition does in memory. Thread-safe.
 */
final class OwnerIds {

	private volatile @Nullable Batch current;

	/**
	 * Creates an owner id.
	 * @param now the present time on the engine's clock, or a slightly earlier one
	 */
	OwnerId next(long now) {
		Batch batch = this.current;
		OwnerId next = (batch != null) ? batch.take(now) : null;
		while (next == null) {
			batch = new Batch(now);
			next = batch.take(now);
			this.current = batch;
		}
		return next;
	}

	/**
	 * A random number for several identities. The identities of a batch differ in their
	 * first eight bits, and those of different batches are as unlikely to be equal as
	 * random ones.
	 *
	 * <p>
	 * A virtual machine that is restored twice from one snapshot has the same memory
	 * twice. A counter or a generator in this process would then create the same
	 * identities in both. A batch is therefore used for at most
	 * {@value #LONGEST_USE_MILLIS} ms, as long as the JDK buffers what it reads from the
	 * system.
	 */
	static final class Batch {

		private static final int INDEX_BITS = 8;

		static final int SIZE = 1 << INDEX_BITS;

		private static final int LONGEST_USE_MILLIS = 100;

		private static final long LONGEST_USE = TimeUnit.MILLISECONDS.toNanos(LONGEST_USE_MILLIS);

		private static final SecureRandom SYSTEM = system();

		private final long drawnAt;

		private final long high;

		private final long low;

		private final AtomicInteger taken = new AtomicInteger();

		/**
		 * Draws a batch.
		 * @param now the present time, in nanoseconds
		 */
		Batch(long now) {
			this.drawnAt = now;
			ByteBuffer number = ByteBuffer.wrap(SYSTEM.generateSeed(2 * Long.BYTES));
			this.high = number.getLong();
			this.low = number.getLong();
		}

		/** Returns the next identity, or {@code null} if the batch is used up or old. */
		@Nullable OwnerId take(long now) {
			if (now - this.drawnAt > LONGEST_USE) {
				return null;
			}
			int index = this.taken.getAndIncrement();
			return (index < SIZE) ? new OwnerId(this.high ^ ((long) index << Long.SIZE - INDEX_BITS), this.low) : null;
		}

		/** Returns a generator whose seeds are numbers of the system. */
		private static SecureRandom system() {
			try {
				return SecureRandom.getInstance("NativePRNGNonBlocking");
			}
			catch (NoSuchAlgorithmException ex) {
				// Windows: the seeds of all generators are from the system
				return new SecureRandom();
			}
		}

	}

}
