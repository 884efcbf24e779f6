package io.holdfast.verification.benchmark;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A {@link BenchmarkProcess}, as its parent sees it.
 */
final class BenchmarkChild implements AutoCloseable {

	/**
	 * A fifth of the calls that the compiler awaits by default, for all libraries alike.
	 * Otherwise it is at work during the rounds, which follow a warmup of seconds.
	 */
	static final String COMPILE_EARLY = "-XX:CompileThresholdScaling=0.2";

	private final Process process;

	private final BufferedReader results;

	private final PrintStream commands;

	BenchmarkChild(Library library, Servers servers, Path marks, String compilation) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
						"-XX:+UseSerialGC", compilation, "-cp", classPath(library), BenchmarkProcess.class.getName(),
						library.name(), servers.store(), servers.ports(), servers.url(), marks.toString()));
		command.addAll(servers.arguments());
		this.process = new ProcessBuilder(command)
			.redirectError(new File("target/benchmark/%s-%s.log".formatted(servers.store(), library)))
			.start();
		this.results = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.US_ASCII));
		this.commands = new PrintStream(this.process.getOutputStream(), true, StandardCharsets.US_ASCII);
	}

	/**
	 * Test classes of other modules configure applications, so they are left out, and so
	 * is lock4j from our applications.
	 */
	private static String classPath(Library library) {
		String own = Path.of("target", "test-classes").toAbsolutePath().toString();
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> entry.equals(own) || (!entry.contains("test-classes") && !entry.endsWith("-tests.jar")))
			.filter((entry) -> !(library.isOurs() && entry.contains("lock4j")))
			.collect(Collectors.joining(File.pathSeparator));
	}

	void send(String command) {
		this.commands.println(command);
	}

	/** Waits for the next result. */
	String result() throws IOException {
		for (String line = this.results.readLine(); line != null; line = this.results.readLine()) {
			if (line.startsWith(BenchmarkProcess.RESULT)) {
				return line.substring(BenchmarkProcess.RESULT.length());
			}
		}
		throw new IllegalStateException("The process has ended. See its log in target/benchmark.");
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
