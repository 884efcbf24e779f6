package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the documentation and the main code contain no phrase for which the field
 * has a standard term.
 */
class PhrasesTests {

	/** The phrases, each with the term to use. */
	private static final List<Phrase> PHRASES = List.of(new Phrase("let(s|ting)? go", "release"),
			new Phrase("whoever", "name who acts"), new Phrase("nobody", "name who does not act"),
			new Phrase("(is|are|be|was|were) told", "notify, report"), new Phrase("for ever", "forever"),
			new Phrase("g[ia]ven? back|gives? back", "release"), new Phrase("in vain", "discarded"),
			new Phrase("time-outs?", "timeout"), new Phrase("census|errand", "registry, request"),
			new Phrase("anew", "again"));

	static Stream<Path> files() throws IOException {
		try (Stream<Path> files = Files.walk(Page.PROJECT)) {
			return files.filter(PhrasesTests::isPublished).sorted().toList().stream();
		}
	}

	private static boolean isPublished(Path file) {
		String path = Page.PROJECT.relativize(file).toString().replace('\\', '/');
		return !path.contains("target/")
				&& (path.endsWith(".md") || path.matches(".*/src/main/.*\\.(java|lua|sql|factories|imports|json)"));
	}

	@ParameterizedTest
	@MethodSource("files")
	void textUsesStandardTerms(Path file) {
		String text = Page.text(file).replaceAll("\\s+(\\*|//|--|#)?\\s*", " ").toLowerCase(Locale.ROOT);
		assertThat(PHRASES.stream().filter((phrase) -> phrase.isIn(text)))
			.as("phrases in %s", Page.PROJECT.relativize(file))
			.isEmpty();
	}

	/**
	 * A phrase to avoid.
	 *
	 * @param expression a regular expression, in lower case
	 * @param instead the term to use
	 */
	private record Phrase(String expression, String instead) {

		boolean isIn(String text) {
			return Pattern.compile("\\b(" + this.expression + ")\\b").matcher(text).find();
		}

		@Override
		public String toString() {
			return "'%s' (say: %s)".formatted(this.expression, this.instead);
		}

	}

}
