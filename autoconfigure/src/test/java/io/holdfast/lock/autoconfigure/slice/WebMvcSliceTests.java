package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockOperations;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a slice of the web layer has its locks, whatever store the application
 * configures.
 */
@WebMvcTest(properties = { "distributed-lock.backend=redis", "distributed-lock.redis.address=redis://127.0.0.1:1" })
class WebMvcSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockOperations locks;

	@Autowired
	private LockInspector inspector;

	@Test
	void controllerHoldsItsLock() {
		assertThat(this.mvc.get().uri("/held")).hasStatusOk().hasBodyTextEqualTo("true");
		assertThat(this.locks).isNotNull();
		assertThat(this.inspector).isNotNull();
	}

	@Test
	void failureHasTheAnswerOfTheApplication() {
		assertThat(this.mvc.get().uri("/unavailable")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
	}

}
