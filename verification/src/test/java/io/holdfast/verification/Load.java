package io.holdfast.verification;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Orders for one product that many buyers place concurrently at all processes.
 *
 * @param product the product's id
 * @param orders the number of orders of all buyers together
 * @param buyersPerProcess the number of concurrent orders per process
 * @param thinkMillis the time between the read and the write of an order, in milliseconds
 * @param lock the locking strategy: {@code distributed}, {@code none} or {@code inside}
 */
record Load(long product, int orders, int buyersPerProcess, int thinkMillis, String lock) {

	private static final HttpClient CLIENT = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(5))
		.build();

	/** The status of an order without a response, which may have been placed. */
	static final int NO_ANSWER = 0;

	/** The status of a request whose lock was not acquired or was lost. */
	static final int UNAVAILABLE = 503;

	private static final int MOST_REPETITIONS = 20;

	/**
	 * Places the orders, and repeats each that is rejected for lack of a lock.
	 * @param processes the processes that serve them
	 * @return the number of orders by response status
	 */
	Map<Integer, Integer> run(List<SampleProcess> processes) throws Exception {
		AtomicInteger left = new AtomicInteger(this.orders);
		ExecutorService buyers = Executors.newFixedThreadPool(processes.size() * this.buyersPerProcess);
		try {
			List<Future<List<Integer>>> answers = new ArrayList<>();
			for (SampleProcess process : processes) {
				for (int buyer = 0; buyer < this.buyersPerProcess; buyer++) {
					answers.add(buyers.submit(() -> buyFrom(process, left)));
				}
			}
			Map<Integer, Integer> counted = new TreeMap<>();
			for (Future<List<Integer>> answer : answers) {
				answer.get().forEach((status) -> counted.merge(status, 1, Integer::sum));
			}
			return counted;
		}
		finally {
			buyers.shutdownNow();
		}
	}

	private List<Integer> buyFrom(SampleProcess process, AtomicInteger left) throws InterruptedException {
		HttpRequest order = HttpRequest
			.newBuilder(process.url("/products/%d/orders?quantity=1&thinkMillis=%d&lock=%s".formatted(this.product,
					this.thinkMillis, this.lock)))
			.timeout(Duration.ofSeconds(60))
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		List<Integer> answers = new ArrayList<>();
		while (left.getAndDecrement() > 0) {
			answers.add(sendRepeatedly(order));
		}
		return answers;
	}

	/**
	 * Repeats a request that was rejected without an effect: on a busy machine, its lock
	 * may be lost.
	 */
	private static int sendRepeatedly(HttpRequest request) throws InterruptedException {
		int status = send(request);
		for (int i = 0; i < MOST_REPETITIONS && status == UNAVAILABLE; i++) {
			status = send(request);
		}
		return status;
	}

	private static int send(HttpRequest request) throws InterruptedException {
		try {
			return CLIENT.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
		}
		catch (IOException ex) {
			return NO_ANSWER;
		}
	}

	/**
	 * Sets a product's stock.
	 * @param process the process that receives the request
	 * @param product the product's id
	 * @param quantity the stock
	 */
	static void setStock(SampleProcess process, long product, int quantity) throws InterruptedException {
		put(process, "/products/%d/stock?quantity=%d".formatted(product, quantity));
	}

	/**
	 * Sends a request that has no content.
	 * @param process the process that receives the request
	 * @param path the path and query
	 */
	static void put(SampleProcess process, String path) throws InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(process.url(path))
			.timeout(Duration.ofSeconds(60))
			.PUT(HttpRequest.BodyPublishers.noBody())
			.build();
		int status = sendRepeatedly(request);
		if (status != 200) {
			throw new IllegalStateException("PUT %s was answered %d".formatted(path, status));
		}
	}

}
