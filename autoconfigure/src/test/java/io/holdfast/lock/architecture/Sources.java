package io.holdfast.lock.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The source files of this module's main code, and the test files of all modules.
 */
final class Sources {

	static final Path ROOT = Path.of("src", "main", "java");

	private Sources() {
	}

	static List<Path> files() {
		return files(ROOT);
	}

	static List<Path> tests() {
		try (Stream<Path> modules = Files.list(Path.of(".."))) {
			return modules.map((module) -> module.resolve(Path.of("src", "test", "java")))
				.filter(Files::isDirectory)
				.flatMap((root) -> files(root).stream())
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<Path> files(Path root) {
		try (Stream<Path> files = Files.walk(root)) {
			return files.filter((file) -> file.toString().endsWith(".java")).sorted().toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the text of each {@code package-info.java}, by the name of its package. */
	static Map<String, String> packageInfos() {
		Map<String, String> texts = new TreeMap<>();
		for (Path file : files()) {
			if (file.endsWith("package-info.java")) {
				texts.put(
						ROOT.relativize(file.getParent()).toString().replace(file.getFileSystem().getSeparator(), "."),
						text(file));
			}
		}
		return texts;
	}

	static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
