package io.holdfast.sample;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the endpoints of the page without a browser.
 */
@ExtendWith(OutputCaptureExtension.class)
class SaleControllerTests {

	@AutoClose
	private static final RunningSample sample = RunningSample.start();

	@Test
	void optionsAreTheConfiguredStores() {
		sample.http()
			.get()
			.uri("/sales/options")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.json("{\"stores\":[\"local\"],\"fewestBuyers\":2,\"mostBuyers\":50}");
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '"',
			value = { "mode=none&store=local&buyers=1, 'buyers' is 1",
					"mode=none&store=local&buyers=51, 'buyers' is 51", "mode=none&store=local&buyers=x, 'buyers'",
					"mode=none&store=local, 'buyers'", "mode=some&store=local&buyers=5, 'mode'",
					"mode=none&store=redis&buyers=5, There is no store 'redis'", "mode=none&buyers=5, 'store'" })
	void badRequestIsRefused(String query, String detail) {
		problem(start(sample, query), HttpStatus.BAD_REQUEST, detail);
	}

	@Test
	void watchersSeeTheSameAndTheNextSaleWaits() {
		Watcher one = watch(sample);
		Watcher other = watch(sample);
		// the buyers wait until both requests are answered
		try (LockHandle lock = sample.bean(LockOperations.class).acquire(LockRequest.of("stock", 1000))) {
			start(sample, "mode=holdfast&store=local&buyers=4").expectStatus().isAccepted();
			problem(start(sample, "mode=none&store=local&buyers=4"), HttpStatus.CONFLICT, "A sale is in progress.");
			lock.assertHeld();
		}
		String result = one.await("event:result");
		assertThat(result).contains("\"sold\":4", "\"stock\":96", "\"shouldBe\":96", "\"lost\":0");
		assertThat(other.await("event:result")).isEqualTo(result);
		assertThat(other.lines).isEqualTo(one.lines);
		assertThat(watch(sample).await("event:state")).contains(result, "\"step\":\"acquired\"");
	}

	@Test
	void watchersAreLimitedAndMakeRoomWhenTheyLeave() throws Exception {
		List<HttpResponse<InputStream>> responses = Stream.generate(SaleControllerTests::open)
			.limit(40)
			.toList()
			.stream()
			.map(CompletableFuture::join)
			.toList();
		assertThat(responses).extracting(HttpResponse::statusCode).containsOnly(200, 503);
		for (HttpResponse<InputStream> response : responses) {
			response.body().close();
		}
		Awaitility.await().until(() -> {
			HttpResponse<InputStream> response = open().join();
			response.body().close();
			return response.statusCode() == 200;
		});
	}

	private static CompletableFuture<HttpResponse<InputStream>> open() {
		return HttpClient.newHttpClient()
			.sendAsync(HttpRequest.newBuilder(URI.create(sample.url() + "/sales/events")).build(),
					BodyHandlers.ofInputStream());
	}

	@Test
	void shutdownEndsTheStreams(CapturedOutput output) {
		Watcher watcher;
		try (RunningSample stopping = RunningSample.start()) {
			watcher = watch(stopping);
		}
		watcher.end.join();
		assertThat(output).contains("Graceful shutdown complete").doesNotContain("requests still active");
	}

	private static RestTestClient.ResponseSpec start(RunningSample sample, String query) {
		return sample.http().post().uri("/sales?" + query).exchange();
	}

	private static void problem(RestTestClient.ResponseSpec response, HttpStatus status, String detail) {
		response.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.detail")
			.value(String.class, (text) -> assertThat(text).contains(detail));
	}

	private static Watcher watch(RunningSample sample) {
		Watcher watcher = new Watcher(sample);
		watcher.await("event:state");
		return watcher;
	}

	/**
	 * The messages that a browser receives.
	 */
	private static final class Watcher {

		private final List<String> lines = new CopyOnWriteArrayList<>();

		private final CompletableFuture<Void> end;

		Watcher(RunningSample sample) {
			this.end = HttpClient.newHttpClient()
				.sendAsync(HttpRequest.newBuilder(URI.create(sample.url() + "/sales/events")).build(),
						BodyHandlers.ofLines())
				.thenAccept((response) -> response.body().filter((line) -> !line.isEmpty()).forEach(this.lines::add));
		}

		/** Waits for a message and returns its data. */
		String await(String name) {
			Awaitility.await().until(() -> {
				int position = this.lines.indexOf(name);
				return position >= 0 && position + 1 < this.lines.size();
			});
			return this.lines.get(this.lines.indexOf(name) + 1).substring("data:".length());
		}

	}

}
