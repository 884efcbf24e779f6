package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Prometheus server that reads the metrics of one application several times a second.
 */
public final class PrometheusServer extends ServerProcess {

	private static final String PACKAGE = "prometheus";

	private static final String CONFIGURATION = """
			global:
			  scrape_interval: 250ms
			  scrape_timeout: 250ms
			  evaluation_interval: 250ms
			rule_files: [ rules.yml ]
			scrape_configs:
			  - job_name: shop
			    metrics_path: /actuator/prometheus
			    static_configs: [ { targets: [ "%s:%d" ] } ]
			""";

	private PrometheusServer(int applicationPort, String rules) {
		super("prometheus");
		try {
			Files.writeString(directory().resolve("prometheus.yml"), CONFIGURATION.formatted(HOST, applicationPort));
			Files.writeString(directory().resolve("rules.yml"), rules);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Starts a server.
	 * @param applicationPort the port at which the application serves its metrics
	 * @param rules the recording and alerting rules
	 * @return the server, which the caller must close
	 */
	public static PrometheusServer started(int applicationPort, String rules) {
		PrometheusServer server = new PrometheusServer(applicationPort, rules);
		server.start();
		return server;
	}

	/**
	 * Runs the tool that checks and tests rules.
	 * @param arguments its arguments
	 * @return its output; its last line is {@code exit code} and the code
	 */
	public static String tool(String... arguments) {
		try {
			Process tool = new ProcessBuilder(Stream.concat(Stream.of("promtool"), Stream.of(arguments)).toList())
				.redirectErrorStream(true)
				.start();
			String output = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			return "%s%nexit code %d".formatted(output.strip(), tool.waitFor());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while testing rules", ex);
		}
	}

	@Override
	protected List<String> command() {
		Path directory = directory();
		return List.of("prometheus", "--config.file=" + directory.resolve("prometheus.yml"),
				"--storage.tsdb.path=" + directory.resolve("data"), "--web.listen-address=" + HOST + ":" + port(),
				"--log.level=warn");
	}

	@Override
	protected boolean isReady() throws IOException {
		return read("/-/ready").contains("Ready");
	}

	/**
	 * Evaluates an expression now.
	 * @param expression the expression
	 * @return the response of the HTTP API, as JSON
	 * @throws IOException if the expression is rejected
	 */
	public String query(String expression) throws IOException {
		return read("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
	}

	/**
	 * Evaluates an expression for each second of the recent past.
	 * @param expression the expression
	 * @param seconds the length of that time
	 * @return the response of the HTTP API, as JSON
	 * @throws IOException if the expression is rejected
	 */
	public String queryRange(String expression, int seconds) throws IOException {
		long now = Instant.now().getEpochSecond();
		return read("/api/v1/query_range?step=1&start=%d&end=%d&query=%s".formatted(now - seconds, now,
				URLEncoder.encode(expression, StandardCharsets.UTF_8)));
	}

	/**
	 * Returns the present alerts.
	 * @return the response of the HTTP API, as JSON
	 * @throws IOException if the server does not respond
	 */
	public String alerts() throws IOException {
		return read("/api/v1/alerts");
	}

	private String read(String path) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI.create("http://" + HOST + ":" + port() + path)
			.toURL()
			.openConnection();
		connection.setConnectTimeout(1000);
		connection.setReadTimeout(10_000);
		try (InputStream body = connection.getInputStream()) {
			return new String(body.readAllBytes(), StandardCharsets.UTF_8);
		}
		finally {
			connection.disconnect();
		}
	}

}
