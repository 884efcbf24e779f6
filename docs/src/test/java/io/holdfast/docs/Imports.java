package io.holdfast.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The imports that code of one Java file needs in a file of another package.
 *
 * @param lines the imports of the file, and imports of the published types of its package
 */
record Imports(List<String> lines) {

	private static final Pattern IMPORT = Pattern.compile("(?m)^import .*;$");

	private static final Path PUBLISHED = Page.PROJECT.resolve("autoconfigure/src/main/java");

	static Imports of(Path file) {
		String text = Page.text(file);
		List<String> lines = new ArrayList<>(IMPORT.matcher(text).results().map((line) -> line.group()).toList());
		String folder = text.lines().findFirst().orElseThrow().replaceAll("package |;", "");
		types(PUBLISHED.resolve(folder.replace('.', '/')))
			.forEach((type) -> lines.add("import " + folder + "." + type + ";"));
		return new Imports(lines);
	}

	private static List<String> types(Path folder) {
		if (!Files.isDirectory(folder)) {
			return List.of();
		}
		try (Stream<Path> files = Files.list(folder)) {
			return files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.matches("\\w+\\.java"))
				.map((name) -> name.replace(".java", ""))
				.sorted()
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the imports of the simple names in the code. */
	String neededBy(String code) {
		return this.lines.stream()
			.filter((line) -> Pattern.compile("(?<![.\\w])" + simpleName(line) + "\\b").matcher(code).find())
			.collect(Collectors.joining("\n"));
	}

	private static String simpleName(String line) {
		return line.substring(line.lastIndexOf('.') + 1, line.length() - 1);
	}

}
