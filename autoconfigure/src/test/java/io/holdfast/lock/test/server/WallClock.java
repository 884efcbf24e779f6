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
import java.util.function.ToIntFunction;

/**
 * The wall clock of one process, which can be moved while the process runs. Monotonic
 * clocks, such as {@link System#nanoTime()}, are not affected.
 *
 * <p>
 * A preloaded library intercepts calls to the C library. Therefore, this works for Redis,
 * PostgreSQL, and Java, but not for etcd, which does not use the C library.
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
	 * Creates a clock that shows the time of this machine.
	 * @param directory the directory for its files, which the process must be able to
	 * read
	 * @param compiler runs a command and returns its exit code
	 */
	static WallClock createIn(Path directory, ToIntFunction<List<String>> compiler) {
		WallClock clock = new WallClock(directory.resolve("wall-clock"), directory.resolve("wall-clock.so"));
		Path source = directory.resolve(SOURCE);
		try (InputStream text = Objects.requireNonNull(WallClock.class.getResourceAsStream(SOURCE))) {
			Files.copy(text, source);
			clock.move(Duration.ZERO);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot write to " + directory, ex);
		}
		int exitCode = compiler
			.applyAsInt(List.of("gcc", "-shared", "-fPIC", "-O1", "-o", clock.library.toString(), source.toString()));
		if (exitCode != 0) {
			throw new IllegalStateException(SOURCE + " does not compile; its errors are in the log in " + directory);
		}
		return clock;
	}

	/** Returns the environment variables with which the process must start. */
	Map<String, String> environment() {
		return Map.of("LD_PRELOAD", this.library.toString(), "HOLDFAST_WALL_CLOCK", this.offset.toString());
	}

	/**
	 * Moves the clock.
	 * @param fromNow the offset from the clock of this machine, negative for the past;
	 * only whole seconds count
	 */
	void move(Duration fromNow) {
		ByteBuffer seconds = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
		seconds.putLong(0, fromNow.toSeconds());
		// overwrite the file in place, because the process has mapped it
		try (FileChannel file = FileChannel.open(this.offset, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
			file.write(seconds);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot write " + this.offset, ex);
		}
	}

}
