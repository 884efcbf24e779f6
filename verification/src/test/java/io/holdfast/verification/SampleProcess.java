package io.holdfast.verification;

import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.sample.SampleApplication;

/**
 * One instance of the sample application in its own JVM.
 */
final class SampleProcess extends ServerProcess {

	/** Libraries of tests and benchmarks that the application does not have. */
	private static final List<String> OF_TESTS = List.of("spring-integration-", "shedlock-", "lock4j-",
			"spring-data-redis", "jedis-");

	private final List<String> arguments;

	private final boolean withTestClasses;

	SampleProcess(List<String> arguments) {
		this(arguments, false);
	}

	/**
	 * Creates an instance that test classes may break on purpose.
	 */
	SampleProcess(List<String> arguments, boolean withTestClasses) {
		super("sample");
		this.arguments = List.copyOf(arguments);
		this.withTestClasses = withTestClasses;
	}

	@Override
	protected List<String> command() {
		List<String> command = new ArrayList<>(
				List.of(java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath(),
						SampleApplication.class.getName(), "--server.port=" + port(), "--server.address=" + HOST));
		command.addAll(this.arguments);
		return command;
	}

	/** Returns the path of the Java launcher that runs these tests. */
	static String java() {
		return Path.of(System.getProperty("java.home"), "bin", "java").toString();
	}

	private String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> this.withTestClasses
					|| (!entry.contains("test-classes") && !entry.endsWith("-tests.jar")))
			.filter((entry) -> OF_TESTS.stream().noneMatch(entry::contains))
			.collect(Collectors.joining(File.pathSeparator));
	}

	@Override
	protected boolean isReady() throws IOException {
		HttpURLConnection connection = (HttpURLConnection) url("/actuator/health/readiness").toURL().openConnection();
		connection.setConnectTimeout(1000);
		connection.setReadTimeout(5000);
		try {
			return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
		}
		finally {
			connection.disconnect();
		}
	}

	/**
	 * Returns an address of this instance.
	 * @param path the path and query
	 * @return the address
	 */
	URI url(String path) {
		return URI.create("http://" + HOST + ":" + port() + path);
	}

}
