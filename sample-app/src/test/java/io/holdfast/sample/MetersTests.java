package io.holdfast.sample;

import org.junit.jupiter.api.Test;

import org.springframework.http.MediaType;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

class MetersTests {

	private static final long PRODUCT = 987654;

	@Test
	void prometheusReportsLockActivity() {
		try (RunningSample sample = RunningSample.start("--distributed-lock.wait-time=100ms")) {
			sample.setStock(PRODUCT, 10);
			sample.order(PRODUCT, "quantity=1").expectStatus().isCreated();
			try (LockHandle handle = sample.bean(LockOperations.class).acquire(LockRequest.of("stock", PRODUCT))) {
				assertThat(handle.isHeld()).isTrue();
				sample.order(PRODUCT, "quantity=1").expectStatus().is5xxServerError();
				assertThat(scrape(sample)).containsPattern(line("held", "backend=\"local\",name=\"stock\"", "1.0"));
			}
			assertThat(scrape(sample))
				.containsPattern(
						line("acquire_seconds_count", "backend=\"local\",name=\"stock\",outcome=\"acquired\"", "3"))
				.containsPattern(
						line("acquire_seconds_count", "backend=\"local\",name=\"stock\",outcome=\"timeout\"", "1"))
				.containsPattern(line("hold_seconds_count", "backend=\"local\",name=\"stock\"", "3"))
				.containsPattern(line("held", "backend=\"local\",name=\"stock\"", "0.0"))
				.containsPattern(line("waiting", "backend=\"local\",name=\"stock\"", "0.0"))
				.doesNotContain(Long.toString(PRODUCT));
		}
	}

	private static String line(String meter, String tags, String value) {
		return "(?m)^distributed_lock_" + meter + "\\{" + tags + "\\} " + value.replace(".", "\\.") + "$";
	}

	private static String scrape(RunningSample sample) {
		String body = sample.http()
			.get()
			.uri("/actuator/prometheus")
			.accept(MediaType.TEXT_PLAIN)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(body).isNotNull();
		return body;
	}

}
