package io.holdfast.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One page of the documentation.
 *
 * @param file the path, relative to the root of the project
 * @param prose the text without fenced blocks
 * @param blocks the fenced blocks
 */
record Page(Path file, String prose, List<Block> blocks) {

	/** The root of the project, relative to this module. */
	static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

	private static final List<String> ROOT_PAGES = List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md",
			"SECURITY.md");

	private static final Pattern FENCE = Pattern.compile("\\s*```(\\w*).*");

	private static final Pattern SNIPPET = Pattern.compile("<!-- snippet: ([^#\\s]+)(?:#(\\S+))? -->");

	private static final Pattern LINK = Pattern.compile("(?:\\]\\(|(?:src|srcset)=\")([^)\"\\s]+)[)\"]");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");

	/** Returns the pages in the root and in {@code docs}, including its subfolders. */
	static List<Page> all() {
		try (Stream<Path> files = Files.walk(PROJECT.resolve("docs"))) {
			return Stream.concat(ROOT_PAGES.stream().map(PROJECT::resolve), files)
				.filter((file) -> file.toString().endsWith(".md"))
				.sorted()
				.map(Page::read)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Page read(Path file) {
		StringBuilder prose = new StringBuilder();
		List<Block> blocks = new ArrayList<>();
		Block block = null;
		String last = "";
		for (String line : text(file).lines().toList()) {
			Matcher fence = FENCE.matcher(line);
			if (block != null && fence.matches()) {
				blocks.add(block);
				block = null;
			}
			else if (block != null) {
				block.lines().add(line);
			}
			else if (fence.matches()) {
				block = new Block(fence.group(1), last, new ArrayList<>());
			}
			else {
				prose.append(line).append('\n');
			}
			last = line;
		}
		return new Page(PROJECT.relativize(file), prose.toString(), blocks);
	}

	static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	List<Block> blocks(String language) {
		return this.blocks.stream().filter((block) -> block.language().equals(language)).toList();
	}

	/** Replaces the text of a block in the file. */
	void replace(Block block, String text) throws IOException {
		Path target = PROJECT.resolve(this.file);
		String old = block.before() + "\n```" + block.language() + "\n" + String.join("\n", block.lines());
		Files.writeString(target, text(target).replace(old, block.before() + "\n```" + block.language() + "\n" + text));
	}

	/**
	 * Returns the links to other files of the project, including pictures, and to anchors
	 * of this page.
	 */
	List<String> relativeLinks() {
		return LINK.matcher(this.prose)
			.results()
			.map((link) -> link.group(1))
			.filter((link) -> !link.matches("[a-z]+:.*"))
			.toList();
	}

	/** Returns the anchors of the headings. */
	List<String> anchors() {
		return HEADING.matcher(this.prose).results().map(Page::anchor).toList();
	}

	private static String anchor(MatchResult heading) {
		return heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").strip().replace(' ', '-');
	}

	@Override
	public String toString() {
		return this.file.toString();
	}

	/**
	 * A fenced block.
	 *
	 * @param language the language, or empty
	 * @param before the line before the block
	 * @param lines the lines of the block
	 */
	record Block(String language, String before, List<String> lines) {

		/**
		 * Returns the source named in the line before the block, or {@code null} if there
		 * is none.
		 */
		@Nullable Source source() {
			Matcher snippet = SNIPPET.matcher(this.before);
			return snippet.matches() ? new Source(PROJECT.resolve(snippet.group(1)), snippet.group(2)) : null;
		}

		String text() {
			return String.join("\n", this.lines).stripIndent().strip();
		}

	}

	/**
	 * A file, or a tagged region of it.
	 *
	 * @param file the file
	 * @param tag the name of the region, or {@code null} for the whole file
	 */
	record Source(Path file, @Nullable String tag) {

		/**
		 * Returns the lines between the tags, without any tags and without their
		 * indentation. The imports that Java code needs precede it.
		 */
		String text() {
			String region = region();
			String imports = this.file.toString().endsWith(".java") ? Imports.of(this.file).neededBy(region) : "";
			return imports.isEmpty() ? region : imports + "\n\n" + region;
		}

		private String region() {
			List<String> lines = Page.text(this.file).lines().toList();
			if (this.tag != null) {
				lines = lines.subList(position(lines, "tag::" + this.tag + "[]") + 1,
						position(lines, "end::" + this.tag + "[]"));
			}
			return lines.stream()
				.filter((line) -> !line.matches("\\s*(//|#|--|<!--) *(tag|end)::.*"))
				.map((line) -> line.isBlank() ? "" : line)
				.collect(Collectors.joining("\n"))
				.stripIndent()
				.strip();
		}

		private int position(List<String> lines, String mark) {
			for (int i = 0; i < lines.size(); i++) {
				if (lines.get(i).contains(mark)) {
					return i;
				}
			}
			throw new AssertionError("There is no '%s' in %s".formatted(mark, PROJECT.relativize(this.file)));
		}

	}

}
