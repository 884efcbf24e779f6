package io.holdfast.docs;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the documented command installs every module of Holdfast that the documented
 * pom needs. Maven's {@code -am} does not follow the import of a BOM.
 */
class InstallCommandTests {

	private static final Pattern COMMAND = Pattern.compile("mvn [^`\\n]*\\binstall\\b[^`\\n]*");

	private static final Pattern MODULES = Pattern.compile("-pl (\\S+)");

	private static final Pattern ARTIFACT = Pattern
		.compile("<groupId>io\\.holdfast</groupId>\\s*<artifactId>([\\w-]+)</artifactId>");

	private static final Pattern IMPORT = Pattern
		.compile(ARTIFACT.pattern() + "\\s*<version>[^<]*</version>\\s*<type>pom</type>\\s*<scope>import</scope>");

	private static final Pattern MANAGED = Pattern.compile("(?s)<dependencyManagement>.*?</dependencyManagement>");

	/** The pom of each module by its artifact id. */
	private static final Map<String, String> POMS = poms();

	@ParameterizedTest
	@ValueSource(strings = { "README.md", "docs/start.md" })
	void commandInstallsWhatThePomNeeds(String file) {
		String text = Page.text(Page.PROJECT.resolve(file));
		List<String> commands = COMMAND.matcher(text).results().map(MatchResult::group).toList();
		assertThat(commands).isNotEmpty().allSatisfy((command) -> {
			assertThat(command).contains(" -am");
			Set<String> installed = installedBy(command);
			Set<String> needed = new TreeSet<>();
			Page.read(Page.PROJECT.resolve(file)).blocks("xml").forEach((xml) -> addAll(needed, ARTIFACT, xml.text()));
			assertThat(needed).hasSizeGreaterThanOrEqualTo(2);
			installed.forEach((artifact) -> addAll(needed, IMPORT, POMS.get(artifact)));
			assertThat(installed).as("modules that '%s' installs", command).containsAll(needed);
		});
	}

	/** Returns the named modules, their parents and their dependencies, as Maven does. */
	private static Set<String> installedBy(String command) {
		Set<String> installed = new TreeSet<>();
		Deque<String> open = new ArrayDeque<>();
		for (String module : MODULES.matcher(command).results().findFirst().orElseThrow().group(1).split(",")) {
			open.add(artifact(Page.text(Page.PROJECT.resolve(module).resolve("pom.xml"))));
		}
		while (!open.isEmpty()) {
			String artifact = open.remove();
			if (installed.add(artifact)) {
				addAll(open, ARTIFACT, MANAGED.matcher(POMS.get(artifact)).replaceAll(""));
			}
		}
		return installed;
	}

	private static void addAll(Collection<String> artifacts, Pattern pattern, String pom) {
		pattern.matcher(pom).results().map((match) -> match.group(1)).forEach(artifacts::add);
	}

	private static Map<String, String> poms() {
		Map<String, String> poms = new TreeMap<>();
		String root = Page.text(Page.PROJECT.resolve("pom.xml"));
		poms.put(artifact(root), root);
		Pattern.compile("<module>(.*)</module>").matcher(root).results().forEach((module) -> {
			String pom = Page.text(Page.PROJECT.resolve(module.group(1)).resolve("pom.xml"));
			poms.put(artifact(pom), pom);
		});
		return poms;
	}

	/** Returns the artifact id of a pom itself, which is the first outside its parent. */
	private static String artifact(String pom) {
		String own = pom.replaceAll("(?s)<parent>.*?</parent>", "");
		return Pattern.compile("<artifactId>(.*)</artifactId>")
			.matcher(own)
			.results()
			.findFirst()
			.orElseThrow()
			.group(1);
	}

}
