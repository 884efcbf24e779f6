package io.holdfast.verification;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.verification.History.Answer;
import io.holdfast.verification.History.Attempt;

/**
 * Places orders at every process until it is closed, whatever the responses are.
 */
final class Buyers implements AutoCloseable {

	private static final HttpClient CLIENT = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(2))
		.build();

	private static final int THINK_MILLIS = 3;

	private static final long BACKOFF_MILLIS = 100;

	private static final int BURST = 300;

	/**
	 * No such products exist, so these orders fail after they have acquired their lock.
	 */
	private static final long FIRST_OF_BURST = 900_000;

	private final ExecutorService threads;

	private final History history;

	private final List<Long> products;

	private final int pauseMillis;

	private volatile boolean stopped;

	Buyers(List<SampleProcess> processes, int perProcess, List<Long> products, int pauseMillis, History history) {
		this.history = history;
		this.pauseMillis = pauseMillis;
		this.products = products;
		this.threads = Executors.newFixedThreadPool(processes.size() * perProcess);
		for (int i = 0; i < processes.size(); i++) {
			for (int buyer = 0; buyer < perProcess; buyer++) {
				int process = i;
				long seed = buyer;
				this.threads.execute(() -> buy(process, processes.get(process), new Random(seed)));
			}
		}
	}

	private void buy(int number, SampleProcess process, Random random) {
		while (!this.stopped) {
			long product = this.products.get(random.nextInt(this.products.size()));
			Answer answer = order(number, process, product, this.history);
			boolean failed = answer == null || answer == Answer.UNKNOWN || answer == Answer.ERROR;
			FaultSteps.sleep(failed ? BACKOFF_MILLIS : this.pauseMillis);
		}
	}

	/**
	 * Places an order and records its outcome.
	 * @return the outcome, or {@code null} if the process does not accept the connection
	 */
	static @Nullable Answer order(int number, SampleProcess process, long product, History history) {
		long begin = history.now();
		Answer answer = order(process, product);
		if (answer != null) {
			history.add(new Attempt(number, product, begin, history.now(), answer));
		}
		return answer;
	}

	private static @Nullable Answer order(SampleProcess process, long product) {
		try {
			HttpRequest order = HttpRequest
				.newBuilder(
						process.url("/products/%d/orders?quantity=1&thinkMillis=%d".formatted(product, THINK_MILLIS)))
				.timeout(Duration.ofSeconds(30))
				.POST(HttpRequest.BodyPublishers.noBody())
				.build();
			HttpResponse<String> response = CLIENT.send(order, HttpResponse.BodyHandlers.ofString());
			return answer(response.statusCode(), response.body());
		}
		catch (ConnectException ex) {
			return null;
		}
		catch (IOException ex) {
			return Answer.UNKNOWN;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Answer.UNKNOWN;
		}
	}

	/**
	 * Requests hundreds of locks at once that no other order requests. Does not wait for
	 * them.
	 */
	static void burst(SampleProcess process) {
		for (int i = 0; i < BURST; i++) {
			HttpRequest order = HttpRequest
				.newBuilder(process.url("/products/%d/orders?quantity=1".formatted(FIRST_OF_BURST + i)))
				.timeout(Duration.ofSeconds(30))
				.POST(HttpRequest.BodyPublishers.noBody())
				.build();
			CLIENT.sendAsync(order, HttpResponse.BodyHandlers.discarding());
		}
	}

	private static Answer answer(int status, String body) {
		if (status == 201) {
			return Answer.PLACED;
		}
		if (status != Load.UNAVAILABLE) {
			return Answer.ERROR;
		}
		if (body.contains("the fence has seen")) {
			return Answer.STALE;
		}
		if (body.contains("The product is busy")) {
			return Answer.BUSY;
		}
		return body.contains("was not acquired") ? Answer.NO_STORE : Answer.LOST;
	}

	@Override
	public void close() throws InterruptedException {
		this.stopped = true;
		this.threads.shutdown();
		if (!this.threads.awaitTermination(60, TimeUnit.SECONDS)) {
			this.threads.shutdownNow();
		}
	}

}
