package io.holdfast.verification;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.sample.SampleApplication;

/**
 * Class data of the sample application, which its processes share. Starting dozens of
 * processes is most of the work of these tests, and a start needs about a third less
 * processor time with the archive.
 *
 * <p>
 * The first JVM that needs the archive creates it, with a run of the application that
 * ends as soon as its beans exist. If that fails, as with directories of classes on the
 * class path, processes start without an archive.
 */
final class SampleArchive {

	private static final Logger logger = LoggerFactory.getLogger(SampleArchive.class);

	private static final Path FILE = Path.of("target", "sample.jsa").toAbsolutePath();

	private static final int MAX_SECONDS = 120;

	private SampleArchive() {
	}

	/**
	 * Returns the JVM options to use the archive.
	 * @param classPath the class path of the application; the processes may append
	 * further entries
	 * @return the options; empty if there is no archive
	 */
	static synchronized List<String> options(String classPath) {
		Path lock = FILE.resolveSibling("sample.jsa.lock");
		try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				FileLock held = channel.lock()) {
			if (held.isValid() && isOutdated(classPath)) {
				create(classPath);
			}
			return (Files.size(FILE) > 0) ? List.of("-XX:SharedArchiveFile=" + FILE) : List.of();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean isOutdated(String classPath) {
		return !FILE.toFile().exists() || Stream.of(classPath.split(File.pathSeparator))
			.anyMatch((entry) -> new File(entry).lastModified() > FILE.toFile().lastModified());
	}

	/** Creates the archive, or an empty file if that is not possible. */
	private static void create(String classPath) throws IOException {
		Files.deleteIfExists(FILE);
		Process training = new ProcessBuilder(SampleProcess.java(), "-XX:ArchiveClassesAtExit=" + FILE,
				"-Dspring.context.exit=onRefresh", "-cp", classPath, SampleApplication.class.getName())
			.redirectErrorStream(true)
			.redirectOutput(FILE.resolveSibling("sample.jsa.log").toFile())
			.start();
		try {
			if (!training.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
				training.destroyForcibly().waitFor();
			}
		}
		catch (InterruptedException ex) {
			training.destroyForcibly();
			Thread.currentThread().interrupt();
		}
		if (!FILE.toFile().exists()) {
			logger.info("No archive of class data was created; see sample.jsa.log");
			Files.createFile(FILE);
		}
	}

}
