package io.holdfast.sample;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

class ProductControllerTests {

	@AutoClose
	private static final RunningSample sample = RunningSample.start("--distributed-lock.wait-time=2s");

	@Test
	void productExistsFromTheStart() {
		sample.http()
			.get()
			.uri("/products/42")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.json("{\"id\":42,\"stock\":100}");
	}

	@Test
	void stockCanBeSetAndSetAgain() {
		sample.setStock(1, 7);
		sample.setStock(1, 5);
		sample.http().get().uri("/products/1").exchange().expectBody().json("{\"id\":1,\"stock\":5}");
	}

	@Test
	void orderIsPlacedUnderAToken() {
		sample.setStock(2, 10);
		sample.order(2, "quantity=3")
			.expectStatus()
			.isCreated()
			.expectBody()
			.jsonPath("$.product")
			.isEqualTo(2)
			.jsonPath("$.quantity")
			.isEqualTo(3)
			.jsonPath("$.remaining")
			.isEqualTo(7)
			.jsonPath("$.fencingToken")
			.value(String.class,
					(token) -> assertThat(token).as("as text, which no client rounds").matches("[1-9]\\d+"));
		assertThat(sample.stock(2)).isEqualTo(7);
	}

	@Test
	void unlockedOrderHasNoToken() {
		sample.setStock(3, 10);
		sample.order(3, "quantity=3&lock=none")
			.expectStatus()
			.isCreated()
			.expectBody()
			.jsonPath("$.fencingToken")
			.isEqualTo(null);
	}

	@Test
	void lastItemCanBeSoldAndNoMore() {
		sample.setStock(4, 1);
		sample.order(4, "quantity=1").expectStatus().isCreated();
		problem(sample.order(4, "quantity=1"), HttpStatus.CONFLICT, "Product 4 has 0 left");
		problem(sample.order(4, "quantity=1&lock=inside"), HttpStatus.CONFLICT, "Product 4 has 0 left");
		assertThat(sample.stock(4)).isZero();
	}

	@Test
	void busyProductAllowsARetry() {
		sample.setStock(5, 10);
		LockOperations locks = sample.bean(LockOperations.class);
		try (LockHandle handle = locks.acquire(LockRequest.of("stock", 5))) {
			assertThat(handle.isHeld()).isTrue();
			RestTestClient.ResponseSpec response = sample.order(5, "quantity=1");
			response.expectHeader().valueEquals(HttpHeaders.RETRY_AFTER, "1");
			problem(response, HttpStatus.SERVICE_UNAVAILABLE, "stock:5");
		}
		assertThat(sample.stock(5)).isEqualTo(10);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '"',
			value = { "quantity=0, 'quantity' is 0", "quantity=-1, 'quantity' is -1", "quantity=x, 'quantity'",
					"quantity=99999999999, 'quantity'", "quantity=1&thinkMillis=-1, 'thinkMillis' is -1",
					"quantity=1&thinkMillis=999999999, 'thinkMillis'", "quantity=1&lock=no, 'lock'",
					"q=1, 'quantity'" })
	void orderWithBadNumbersIsRefused(String query, String detail) {
		sample.setStock(6, 10);
		problem(sample.order(6, query), HttpStatus.BAD_REQUEST, detail);
		assertThat(sample.stock(6)).isEqualTo(10);
	}

	@ParameterizedTest
	@CsvSource({ "7, -1", "7, 1000000001", "-7, 1", "x, 1", "7, x" })
	void stockWithBadNumbersIsRefused(String product, String quantity) {
		problem(sample.http().put().uri("/products/{id}/stock?quantity={n}", product, quantity).exchange(),
				HttpStatus.BAD_REQUEST, "'");
	}

	@ParameterizedTest
	@CsvSource({ "distributed", "none", "inside" })
	void unknownProductIsNotFound(String lock) {
		problem(sample.order(99, "quantity=1&lock=" + lock), HttpStatus.NOT_FOUND, "There is no product 99");
		problem(sample.http().get().uri("/products/99").exchange(), HttpStatus.NOT_FOUND, "There is no product 99");
	}

	private static void problem(RestTestClient.ResponseSpec response, HttpStatus status, String detail) {
		response.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo(status.value())
			.jsonPath("$.title")
			.isNotEmpty()
			.jsonPath("$.detail")
			.value(String.class, (text) -> assertThat(text).contains(detail));
	}

}
