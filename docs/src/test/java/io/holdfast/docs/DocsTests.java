package io.holdfast.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that links resolve, that code is compiled, that commands are run, and that the
 * named settings and tests exist.
 */
class DocsTests {

	private static final int LONGEST_LINE = 120;

	private static final Pattern SETTING = Pattern.compile("\\bdistributed-lock((?:\\.[a-z][a-z-]*)+)");

	private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+)#([a-z]\\w+)`");

	private static final Pattern TEST_CLASS = Pattern.compile("`([A-Z]\\w+Tests)\\b[^`]*`");

	private static final Pattern FAULT = Pattern.compile("\\b[A-Z]{2}\\d+\\b");

	private static final Pattern FAULT_ROW = Pattern.compile("(?m)^\\| ([A-Z]{2}\\d+) \\|");

	private static final Pattern CLIENT_VERSION = Pattern.compile("<[a-z-]+\\.version>(.*)</");

	private static final Pattern TABLE = Pattern.compile("create table \\w+ \\((?:[^()]|\\([^()]*\\))*\\)");

	private static final Path SCHEMAS = Page.PROJECT.resolve("autoconfigure/src/main/resources/io/holdfast/lock");

	/** The source of each test class by its name. */
	private static final Map<String, String> TESTS = tests();

	static List<Page> pages() {
		return Page.all();
	}

	@ParameterizedTest
	@MethodSource("pages")
	void linksPointToFilesAndHeadings(Page page) {
		List<String> broken = new ArrayList<>();
		for (String link : page.relativeLinks()) {
			String[] parts = link.split("#", 2);
			Path from = Page.PROJECT.resolve(page.file());
			Path target = parts[0].isEmpty() ? from : from.resolveSibling(parts[0]).normalize();
			if (!Files.exists(target)) {
				broken.add(link + " leads to no file");
			}
			else if (parts.length == 2 && !Page.read(target).anchors().contains(parts[1])) {
				broken.add(link + " leads to no heading");
			}
		}
		assertThat(broken).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("pages")
	void javaComesFromCompiledCode(Page page) {
		assertThat(page.blocks("java")).allSatisfy((block) -> assertThat(block.source())
			.as("the line '<!-- snippet: path/to/File.java#tag -->' before%n%s", block.text())
			.isNotNull());
	}

	@ParameterizedTest
	@MethodSource("pages")
	void snippetsMatchTheirSource(Page page) throws IOException {
		for (Page.Block block : page.blocks()) {
			Page.Source source = block.source();
			if (source != null && System.getProperty("docs.write") != null) {
				page.replace(block, source.text());
			}
			else if (source != null) {
				assertThat(block.text()).as("%s in %s; to regenerate it: -Ddocs.write", block.before(), page)
					.isEqualTo(source.text());
			}
		}
	}

	/** Tables and HTML are exempt: their lines cannot be wrapped. */
	@ParameterizedTest
	@MethodSource("pages")
	void proseIsWrapped(Page page) {
		assertThat(page.prose().lines()).filteredOn((line) -> !line.startsWith("|") && !line.strip().startsWith("<"))
			.as("lines of %s", page)
			.allMatch((line) -> line.length() <= LONGEST_LINE, "has at most " + LONGEST_LINE + " characters");
	}

	@ParameterizedTest
	@MethodSource("pages")
	void settingsExist(Page page) {
		Set<String> unknown = new TreeSet<>();
		page.blocks("yaml").forEach((block) -> unknown.addAll(settings(block)));
		String text = Page.text(Page.PROJECT.resolve(page.file()));
		SETTING.matcher(text).results().map(MatchResult::group).forEach(unknown::add);
		unknown.removeIf((name) -> name.matches("distributed-lock\\.(yml|yaml|md)"));
		unknown.removeAll(known());
		assertThat(unknown).as("settings that do not exist").isEmpty();
	}

	@Test
	void commandsOfTheReadmeAreOneLineEach() {
		List<Page.Block> commands = Page.read(Page.PROJECT.resolve("README.md")).blocks("sh");
		assertThat(commands).hasSizeGreaterThanOrEqualTo(2);
		assertThat(commands.subList(0, 2)).allSatisfy((block) -> assertThat(block.lines()).hasSize(1));
	}

	@Test
	void continuousIntegrationRunsTheSecondCommandOfTheReadme() {
		String command = Page.read(Page.PROJECT.resolve("README.md")).blocks("sh").get(1).text();
		assertThat(Page.text(Page.PROJECT.resolve(".ci/run")).lines())
			.filteredOn((line) -> !line.isBlank() && !line.startsWith("#") && !line.startsWith("set ")
					&& !line.startsWith("cd "))
			.containsExactly(command);
	}

	@ParameterizedTest
	@MethodSource("pages")
	void dependenciesLeaveTheirVersionToTheBom(Page page) {
		assertThat(page.blocks("xml")).flatExtracting((block) -> List.of(block.text().split("</dependency>")))
			.filteredOn((dependency) -> dependency.contains("<version>"))
			.allMatch((dependency) -> dependency.contains("<artifactId>holdfast-bom</artifactId>"));
	}

	@Test
	void readmeNamesTheVersionsOfTheBom() {
		List<String> versions = CLIENT_VERSION.matcher(Page.text(Page.PROJECT.resolve("bom/pom.xml")))
			.results()
			.map((version) -> version.group(1))
			.toList();
		assertThat(versions).hasSize(4);
		assertThat(Page.text(Page.PROJECT.resolve("README.md"))).contains(String.join(" | ", versions) + " |");
	}

	/** Options after the columns are exempt: not every database has them. */
	@Test
	void tablesOfPagesAreThoseOfTheScripts() {
		List<String> shown = pages().stream()
			.flatMap((page) -> page.blocks("sql").stream())
			.flatMap((block) -> tables(block.text()).stream())
			.toList();
		String fence = Page.text(SCHEMAS.resolve("fencing/schema.sql")).replace("${table}", "holdfast_fence");
		assertThat(shown).hasSizeGreaterThanOrEqualTo(2).hasSameElementsAs(tables(fence));
	}

	/** Returns the definitions of tables in a uniform notation. */
	private static List<String> tables(String sql) {
		String uniform = sql.replaceAll("--.*", "")
			.toLowerCase(Locale.ROOT)
			.replace("if not exists ", "")
			.replaceAll("\\s+", " ");
		return TABLE.matcher(uniform).results().map(MatchResult::group).toList();
	}

	@Test
	void typesInThePackageOverviewExist() throws IOException {
		String map = Page.text(Page.PROJECT.resolve("docs/internals/rooms.md"));
		Set<String> named = Pattern.compile("`([A-Z][a-z]\\w+)`")
			.matcher(map)
			.results()
			.map((type) -> type.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		try (Stream<Path> files = Files.walk(Page.PROJECT)) {
			Set<String> types = files.map((file) -> file.getFileName().toString())
				.filter((file) -> file.endsWith(".java"))
				.map((file) -> file.substring(0, file.indexOf('.')))
				.collect(Collectors.toSet());
			assertThat(named).hasSizeGreaterThan(20).isSubsetOf(types);
		}
	}

	@Test
	void pageOfTheEngineNamesEachOfItsTypes() throws IOException {
		String page = Page.text(Page.PROJECT.resolve("docs/internals/engine.md"));
		Path engine = Page.PROJECT.resolve("autoconfigure/src/main/java/io/holdfast/lock/engine");
		try (Stream<Path> files = Files.list(engine)) {
			assertThat(files.map((file) -> file.getFileName().toString().replace(".java", "")))
				.filteredOn((type) -> !type.equals("package-info"))
				.hasSizeGreaterThan(20)
				.allMatch((type) -> Pattern.compile("`" + type + "\\b").matcher(page).find(), "is named in the page");
		}
	}

	@Test
	void faultsHaveNumbersOfTheirOwnThatExist() {
		String page = Page.text(Page.PROJECT.resolve("docs/internals/faults.md"));
		List<String> rows = FAULT_ROW.matcher(page).results().map((row) -> row.group(1)).toList();
		assertThat(rows).hasSizeGreaterThan(100).doesNotHaveDuplicates();
		assertThat(FAULT.matcher(page).results().map(MatchResult::group)).isSubsetOf(rows);
	}

	/** Covers the named tests, so that a page cannot make a claim that no test proves. */
	@ParameterizedTest
	@MethodSource("pages")
	void namedTestsExist(Page page) {
		List<String> missing = TEST.matcher(page.prose())
			.results()
			.filter((test) -> !hasTest(test.group(1), test.group(2)))
			.map(MatchResult::group)
			.toList();
		assertThat(missing).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("pages")
	void namedTestClassesExist(Page page) {
		Set<String> named = TEST_CLASS.matcher(page.prose())
			.results()
			.map((test) -> test.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		named.removeAll(TESTS.keySet());
		assertThat(named).isEmpty();
	}

	private static boolean hasTest(String type, String name) {
		String text = TESTS.getOrDefault(type, "");
		Matcher parent = Pattern.compile("class " + type + " extends (\\w+)").matcher(text);
		return text.contains("void " + name + "(") || (parent.find() && hasTest(parent.group(1), name));
	}

	private static Map<String, String> tests() {
		try (Stream<Path> files = Files.walk(Page.PROJECT)) {
			return files.filter((file) -> file.toString().contains("/src/test/") && file.toString().endsWith(".java"))
				.collect(Collectors.toMap((file) -> file.getFileName().toString().replace(".java", ""), Page::text,
						String::concat));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Set<String> settings(Page.Block yaml) {
		YamlPropertiesFactoryBean factory = new YamlPropertiesFactoryBean();
		factory.setResources(new ByteArrayResource(yaml.text().getBytes()));
		Properties properties = factory.getObject();
		return properties.keySet()
			.stream()
			.map(Object::toString)
			.filter((name) -> name.startsWith(Metadata.PREFIX + "."))
			.map((name) -> name.replaceAll("\\[.*", ""))
			.collect(Collectors.toSet());
	}

	/** Returns every setting and every group of settings. */
	private static Set<String> known() {
		Set<String> known = new TreeSet<>();
		for (Metadata.Property property : Metadata.properties()) {
			known.add(property.name());
			known.add(property.group());
		}
		assertThat(known).contains("distributed-lock.wait-time");
		return known;
	}

}
