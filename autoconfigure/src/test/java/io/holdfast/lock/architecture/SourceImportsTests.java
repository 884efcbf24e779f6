package io.holdfast.lock.architecture;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies that source files import only what their code or Javadoc mentions, and once.
 * The compiler does not.
 */
class SourceImportsTests {

	private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?[\\w.]+\\.(\\w+);$");

	@Test
	void everyImportIsUsed() {
		assertThat(Stream.concat(Sources.files().stream(), Sources.tests().stream()))
			.allSatisfy((file) -> assertThat(unused(Sources.text(file))).as("unused imports of %s", file).isEmpty());
	}

	@Test
	void everyImportIsThereOnce() {
		assertThat(Stream.concat(Sources.files().stream(), Sources.tests().stream()))
			.allSatisfy((file) -> assertThat(IMPORT.matcher(Sources.text(file)).results().map(MatchResult::group))
				.as("imports of %s", file)
				.doesNotHaveDuplicates());
	}

	@Test
	void unusedImportIsFound() {
		assertThat(unused("import java.util.List;\nimport java.util.Map;\nMap<String, Listed> all;"))
			.containsExactly("List");
	}

	private static List<String> unused(String source) {
		String code = IMPORT.matcher(source).replaceAll("");
		return IMPORT.matcher(source)
			.results()
			.map((one) -> one.group(1))
			.filter((name) -> !Pattern.compile("\\b" + name + "\\b").matcher(code).find())
			.toList();
	}

}
