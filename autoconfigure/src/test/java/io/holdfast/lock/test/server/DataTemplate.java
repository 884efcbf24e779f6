package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * The data of a new database server, which the servers of a build copy. To create it
 * takes longer than many a test.
 */
final class DataTemplate {

	private static final Path BUILD = Path.of("target").toAbsolutePath();

	private DataTemplate() {
	}

	/**
	 * Fills a directory that does not exist yet. The first JVM of a module creates the
	 * data, and all others copy it.
	 * @param name the name of the template, which must differ for incompatible servers
	 * @param data the directory to fill
	 * @param create creates the data in that directory
	 * @param command runs a command and returns its exit code
	 */
	static void fill(String name, Path data, Runnable create, ToIntFunction<List<String>> command) {
		Path template = BUILD.resolve(name + "-data");
		try {
			if (!createFirst(template, data, create, command)) {
				copy(template, data, command);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Creates the data and its template, if there is no template yet. */
	private static synchronized boolean createFirst(Path template, Path data, Runnable create,
			ToIntFunction<List<String>> command) throws IOException {
		Files.createDirectories(BUILD);
		Path lock = template.resolveSibling(template.getFileName() + ".lock");
		try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				FileLock held = channel.lock()) {
			if (!held.isValid() || Files.exists(template)) {
				return false;
			}
			create.run();
			Path unfinished = Files.createTempDirectory(BUILD, "data-").resolve("data");
			copy(data, unfinished, command);
			Files.move(unfinished, template);
			Files.delete(unfinished.getParent());
			return true;
		}
	}

	/** Copies a directory with its owners, which the servers check. */
	private static void copy(Path from, Path to, ToIntFunction<List<String>> command) {
		int exitCode = command.applyAsInt(List.of("cp", "-a", from.toString(), to.toString()));
		if (exitCode != 0) {
			throw new IllegalStateException("Cannot copy %s to %s, exit code %d".formatted(from, to, exitCode));
		}
	}

}
