package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The time of day as one process sees it, which can be moved while the process runs. What
 * only counts on, such as {@link System#nanoTime()}, is not moved.
 *
 * <p>
 * A small library stands between the process and the C library, so it works for programs
 * that use that one: Redis, PostgreSQL and Java do, etcd does not.
 */
final class WallClock {

	private static final String SOURCE = "wall-clock.c";

	private final Path offset;

	private final Path library;

	private WallClock(Path offset, Path library) {
		this.offset = offset;
		this.library = library;
	}

	/**
	 * Make a clock that shows the time of this machine.
	 * @param directory where its files go, readable by the process
	 * @param compiler runs a command to its end and returns its exit code
	 */
	static WallClock createIn(Path directory, Compiler compiler) {
		WallClock clock = new WallClock(directory.resolve("wall-clock"), directory.resolve("wall-clock.so"));
		Path source = directory.resolve(SOURCE);
		try (InputStream text = Objects.requireNonNull(WallClock.class.getResourceAsStream(SOURCE))) {
			Files.copy(text, source);
			clock.move(Duration.ZERO);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot write to " + directory, ex);
		}
		if (compiler
			.run(List.of("gcc", "-shared", "-fPIC", "-O1", "-o", clock.library.toString(), source.toString())) != 0) {
			throw new IllegalStateException(SOURCE + " does not compile; its errors are in the log in " + directory);
		}
		return clock;
	}

	/** What the process needs in its environment when it starts. */
	Map<String, String> environment() {
		return Map.of("LD_PRELOAD", this.library.toString(), "HOLDFAST_WALL_CLOCK", this.offset.toString());
	}

	/**
	 * Move the clock.
	 * @param fromNow how far ahead of this machine's clock, or behind it if negative; in
	 * whole seconds
	 */
	void move(Duration fromNow) {
		ByteBuffer seconds = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
		seconds.putLong(0, fromNow.toSeconds());
		// written in place: the process has mapped this file
		try (FileChannel file = FileChannel.open(this.offset, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
			file.write(seconds);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot write " + this.offset, ex);
		}
	}

	/** How a program is run. */
	interface Compiler {

		int run(List<String> command);

	}

}
