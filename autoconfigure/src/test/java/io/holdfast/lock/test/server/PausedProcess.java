package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * Waits until a process that was sent SIGSTOP has stopped.
 */
final class PausedProcess {

	private PausedProcess() {
	}

	/**
	 * Waits until no thread of a process runs. Returns immediately where there is no
	 * {@code /proc}.
	 * @throws IllegalStateException if a thread still runs after the timeout
	 */
	static void await(ProcessHandle process, Duration timeout) {
		Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
		long deadline = System.nanoTime() + timeout.toNanos();
		while (Files.isDirectory(threads) && !areStopped(threads)) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("Process %s was not paused in %s".formatted(process, timeout));
			}
			Thread.onSpinWait();
		}
	}

	private static boolean areStopped(Path threads) {
		try (Stream<Path> all = Files.list(threads)) {
			return all.map((thread) -> thread.resolve("stat")).allMatch(PausedProcess::isStopped);
		}
		catch (IOException | UncheckedIOException ex) {
			return false;
		}
	}

	/** The state follows the name of the thread, which is in parentheses. */
	private static boolean isStopped(Path stat) {
		try {
			String text = Files.readString(stat);
			char state = text.charAt(text.lastIndexOf(')') + 2);
			return state == 'T' || state == 'Z' || state == 'X';
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
