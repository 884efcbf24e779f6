package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts sections that run at the same time under the same lock, also those of different
 * processes: each section marks a slot in a file that they share in memory.
 */
final class Exclusion {

	private static final int SLOTS = 1024;

	private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final MappedByteBuffer marks;

	private final LongAdder breaches = new LongAdder();

	Exclusion(Path file) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			this.marks = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) SLOTS * Long.BYTES);
		}
	}

	/**
	 * Runs a section under a lock. Locks whose numbers differ by a multiple of
	 * {@value SLOTS} must never overlap.
	 */
	void run(int lock, Runnable section) {
		int index = lock % SLOTS * Long.BYTES;
		boolean alone = LONG.compareAndSet(this.marks, index, 0L, 1L);
		if (!alone) {
			this.breaches.increment();
		}
		section.run();
		if (alone) {
			LONG.setVolatile(this.marks, index, 0L);
		}
	}

	long takeBreaches() {
		return this.breaches.sumThenReset();
	}

}
