package io.holdfast.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the code on the page is the code that runs. With {@code -Ddocs.write}, it
 * writes that code into the page.
 */
class SalePageCodeTests {

	private static final Path PAGE = Path.of("src", "main", "resources", "static", "index.html");

	private static final Path SOURCES = Path.of("src", "main", "java", "io", "holdfast", "sample");

	private static final Pattern BLOCK = Pattern.compile("(<pre [^>]*data-source=\"([^#\"]+)#(\\w+)\">)(.*?)</pre>",
			Pattern.DOTALL);

	@Test
	void pageShowsTheCodeThatRuns() throws IOException {
		String page = Files.readString(PAGE);
		String current = BLOCK.matcher(page).replaceAll(SalePageCodeTests::withCode);
		if (System.getProperty("docs.write") != null) {
			Files.writeString(PAGE, current);
		}
		assertThat(BLOCK.matcher(page).results()).as("blocks of code").hasSizeGreaterThanOrEqualTo(4);
		assertThat(Files.readString(PAGE)).as("to regenerate it: -Ddocs.write").isEqualTo(current);
	}

	private static String withCode(MatchResult block) {
		try {
			String tag = block.group(3);
			String source = Files.readString(SOURCES.resolve(block.group(2)));
			String code = source.substring(source.indexOf("// tag::" + tag + "[]"),
					source.indexOf("// end::" + tag + "[]"));
			String lines = code.substring(code.indexOf('\n') + 1).stripIndent().strip();
			return Matcher.quoteReplacement(block.group(1) + escaped(lines) + "</pre>");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String escaped(String code) {
		return code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
	}

}
