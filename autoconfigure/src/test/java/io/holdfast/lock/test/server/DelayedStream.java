package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Writes packets in order, each after a delay, without blocking the caller. For use by
 * one thread.
 */
final class DelayedStream implements AutoCloseable {

	private final OutputStream out;

	private final BlockingQueue<Packet> late = new LinkedBlockingQueue<>();

	private final AtomicInteger pending = new AtomicInteger();

	private @Nullable Thread writer;

	DelayedStream(OutputStream out) {
		this.out = out;
	}

	/**
	 * Writes a packet.
	 * @param buffer the buffer that contains the packet
	 * @param length the length of the packet
	 * @param delayMillis the delay in milliseconds; a packet is never written before an
	 * earlier one
	 */
	void write(byte[] buffer, int length, long delayMillis) throws IOException {
		if (delayMillis == 0 && this.pending.get() == 0) {
			this.out.write(buffer, 0, length);
			this.out.flush();
			return;
		}
		this.pending.incrementAndGet();
		this.late.add(new Packet(Arrays.copyOf(buffer, length),
				System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis)));
		if (this.writer == null) {
			this.writer = new Thread(this::writeLate, "tcp-proxy-delay");
			this.writer.setDaemon(true);
			this.writer.start();
		}
	}

	private void writeLate() {
		try {
			while (true) {
				Packet packet = this.late.take();
				TimeUnit.NANOSECONDS.sleep(packet.due() - System.nanoTime());
				this.out.write(packet.bytes());
				this.out.flush();
				this.pending.decrementAndGet();
			}
		}
		catch (IOException | InterruptedException ex) {
			// the connection is closed
		}
	}

	@Override
	public void close() {
		if (this.writer != null) {
			this.writer.interrupt();
		}
	}

	/**
	 * A packet that is written later.
	 *
	 * @param bytes the content
	 * @param due the time at which to write it, in {@link System#nanoTime()}
	 */
	private record Packet(byte[] bytes, long due) {
	}

}
