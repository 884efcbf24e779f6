package io.holdfast.lock.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplicationAotProcessor;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests an application that is processed ahead of time and starts from the generated
 * code.
 */
@Slow
class AheadOfTimeTests {

	/** Spring Cloud Zookeeper needs one more library of Curator ahead of time. */
	private static final String CLASS_PATH = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
		.filter((entry) -> !entry.contains("spring-cloud-zookeeper"))
		.collect(Collectors.joining(File.pathSeparator));

	private static final int LONGEST_MINUTES = 5;

	@TempDir
	private Path target;

	@Test
	void applicationStartsFromGeneratedCode() throws Exception {
		String sources = this.target.resolve("sources").toString();
		String classes = this.target.resolve("classes").toString();
		try (RedisServer redis = RedisServer.started()) {
			run(CLASS_PATH, SpringApplicationAotProcessor.class.getName(), StartedApplication.class.getName(), sources,
					classes, classes, "io.holdfast", "started", "--distributed-lock.backend=redis");
			compile(Path.of(sources), classes);
			String said = run(classes + File.pathSeparator + CLASS_PATH, "-Dspring.aot.enabled=true",
					StartedApplication.class.getName(), "--distributed-lock.backend=redis",
					"--distributed-lock.redis.address=" + redis.address());
			assertThat(said).contains("Starting AOT-processed", "Using lock backend 'redis'");
		}
	}

	private static void compile(Path sources, String classes) throws IOException {
		List<String> arguments = new ArrayList<>(
				List.of("-proc:none", "-nowarn", "-d", classes, "-cp", classes + File.pathSeparator + CLASS_PATH));
		try (Stream<Path> files = Files.walk(sources)) {
			files.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
		}
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
			.as("result of the compiler")
			.isZero();
	}

	/** Runs Java, and returns its output. */
	private String run(String classPath, String... arguments) throws Exception {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
						"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath));
		command.addAll(List.of(arguments));
		Path log = Files.createTempFile(this.target, "run", ".log");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
		try {
			assertThat(process.waitFor(LONGEST_MINUTES, TimeUnit.MINUTES)).as("end of %s", command).isTrue();
			assertThat(process.exitValue()).as("exit code, with the output%n%s", Files.readString(log)).isZero();
			return Files.readString(log);
		}
		finally {
			process.destroyForcibly();
		}
	}

}
