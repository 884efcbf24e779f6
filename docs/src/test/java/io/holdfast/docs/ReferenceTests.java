package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Meter;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.observation.LockMeterDocumentation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the tables of the reference are those that the build generated. With the
 * system property {@code docs.write}, the tables are written instead.
 */
class ReferenceTests {

	private static final String BEGIN = "<!-- generated -->\n";

	private static final String END = "<!-- end of generated -->\n";

	@Test
	void settingsAreThoseOfTheMetadata() throws IOException {
		StringBuilder table = new StringBuilder();
		String group = "";
		for (Metadata.Property property : Metadata.properties()) {
			if (!property.group().equals(group)) {
				group = property.group();
				table.append("\n## `")
					.append(group)
					.append("`\n\n")
					.append(header("name", "value", "default", "meaning"));
			}
			table.append(row("`" + property.name() + "`", property.kind(),
					(property.defaultValue() != null) ? "`" + property.defaultValue() + "`" : "",
					property.description()));
		}
		compareOrWrite("docs/reference/properties.md", table + "\n");
	}

	@Test
	void metersAreThoseOfTheVocabulary() throws IOException {
		StringBuilder table = new StringBuilder("\n" + header("meter", "type", "own tag", "meaning"));
		for (LockMeterDocumentation meter : LockMeterDocumentation.values()) {
			table.append(row("`" + meter.getName() + "`", type(meter), ownTags(meter), meter.description()));
		}
		compareOrWrite("docs/reference/meters.md", table + "\n");
	}

	@Test
	void attributesAreThoseOfTheAnnotation() throws IOException {
		StringBuilder table = new StringBuilder("\n" + header("attribute", "type", "default", "meaning"));
		Path source = Page.PROJECT.resolve("autoconfigure/src/main/java")
			.resolve(DistributedLock.class.getName().replace('.', '/') + ".java");
		for (Attributes.Attribute attribute : Attributes.of(source)) {
			boolean empty = List.of("\"\"", "{}").contains(attribute.defaultValue());
			table.append(row("`" + attribute.name() + "`", attribute.type(),
					empty ? "" : "`" + attribute.defaultValue() + "`", attribute.meaning()));
		}
		compareOrWrite("docs/reference/annotation.md", table + "\n");
	}

	private static String type(LockMeterDocumentation meter) {
		return (meter.getType() == Meter.Type.DISTRIBUTION_SUMMARY) ? "summary"
				: meter.getType().name().toLowerCase(Locale.ROOT);
	}

	private static String ownTags(LockMeterDocumentation meter) {
		return Stream.of(meter.getKeyNames())
			.map(LockMeterDocumentation.Tag.class::cast)
			.filter((tag) -> tag != LockMeterDocumentation.Tag.NAME && tag != LockMeterDocumentation.Tag.BACKEND)
			.map((tag) -> "`" + tag.asString() + "`: " + tag.meaning())
			.collect(Collectors.joining("; "));
	}

	private static String header(String... cells) {
		return row(cells) + row(List.of(cells).stream().map((cell) -> "---").toArray(String[]::new));
	}

	private static String row(String... cells) {
		return Stream.of(cells)
			.map((cell) -> cell.replace("|", "\\|"))
			.collect(Collectors.joining(" | ", "| ", " |\n"));
	}

	private static void compareOrWrite(String page, String table) throws IOException {
		Path file = Page.PROJECT.resolve(page);
		String text = Page.text(file);
		int begin = text.indexOf(BEGIN) + BEGIN.length();
		int end = text.indexOf(END);
		if (System.getProperty("docs.write") != null) {
			Files.writeString(file, text.substring(0, begin) + table + text.substring(end));
		}
		else {
			assertThat(text.substring(begin, end))
				.as("%s; to regenerate it: mvn -pl docs -am test -Dtest=ReferenceTests -Dsurefire.failIfNoSpecifiedTests=false -Ddocs.write",
						page)
				.isEqualTo(table);
		}
	}

}
