package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.fencing.Fence;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a slice of the web layer has its locks, whatever store the application
 * configures.
 */
@WebMvcTest(properties = { "distributed-lock.backend=redis", "distributed-lock.redis.address=redis://127.0.0.1:1",
		"distributed-lock.fencing.enabled=true", "distributed-lock.fencing.initialize-schema=always" })
class WebMvcSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockOperations locks;

	@Autowired
	private LockInspector inspector;

	@Autowired
	private Fence fence;

	@Test
	void controllerHoldsItsLock() {
		assertThat(this.mvc.get().uri("/held")).hasStatusOk().hasBodyTextEqualTo("true");
		assertThat(this.locks).isNotNull();
		assertThat(this.inspector).isNotNull();
	}

	@Test
	void fenceOfTheApplicationIsNotRequired() {
		assertThat(this.fence.unfencedReason()).contains("no DataSource bean");
	}

	@Test
	void failureHasTheAnswerOfTheApplication() {
		assertThat(this.mvc.get().uri("/unavailable")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
	}

}
