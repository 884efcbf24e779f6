package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the null checks of the build, with its arguments, find a null in a package
 * of this project.
 */
class NullChecksTests {

	@TempDir
	Path directory;

	@Test
	void nullFromANonNullMethodFailsTheBuild() throws Exception {
		assertThat(compile("String name() { return null; }")).contains("error: [NullAway] returning @Nullable");
	}

	@Test
	void nullFromANullableMethodIsAccepted() throws Exception {
		assertThat(compile("@org.jspecify.annotations.Nullable String name() { return null; }")).isEmpty();
	}

	private String compile(String method) throws IOException, InterruptedException {
		Path source = this.directory.resolve("Probe.java");
		Files.writeString(source, """
				package io.holdfast.probe;

				@org.jspecify.annotations.NullMarked
				class Probe {

					%s

				}
				""".formatted(method));
		Path output = this.directory.resolve("javac.log");
		Process javac = new ProcessBuilder(command(source)).redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		try {
			assertThat(javac.waitFor(1, TimeUnit.MINUTES)).as("javac has ended").isTrue();
		}
		finally {
			javac.destroyForcibly();
		}
		return Files.readString(output);
	}

	private List<String> command(Path source) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "javac").toString());
		for (String line : Files.readAllLines(Page.PROJECT.resolve(".mvn/jvm.config"))) {
			command.add("-J" + line);
		}
		String classPath = System.getProperty("java.class.path");
		command.addAll(List.of("-XDcompilePolicy=simple", "--should-stop=ifError=FLOW",
				"-Xplugin:ErrorProne " + System.getProperty("null-checks"), "-processorpath", classPath, "-classpath",
				classPath, "-d", this.directory.toString(), source.toString()));
		return command;
	}

}
