package io.holdfast.sample;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

class ShutdownTests {

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";

	/** A pause of the machine may hide an order, so that another one is placed. */
	private CompletableFuture<Void> order = CompletableFuture.completedFuture(null);

	private int orders;

	/**
	 * Reads the order from the database and not from the response. Tomcat's graceful
	 * shutdown may end after the controller has returned and before the response is sent.
	 */
	@Test
	void orderInProgressAtShutdownIsPlaced() {
		try (RunningSample sample = RunningSample.start("--spring.datasource.url=" + this.database)) {
			Awaitility.await().until(() -> {
				if (this.order.isDone()) {
					this.orders++;
					this.order = CompletableFuture.runAsync(() -> sample.order(42, "quantity=1&thinkMillis=1500"));
				}
				return isLocked(sample);
			});
		}
		assertThat(stock()).isEqualTo(100 - this.orders);
	}

	private int stock() {
		return JdbcClient.create(new DriverManagerDataSource(this.database, "sa", ""))
			.sql("select stock from product where id = 42")
			.query(Integer.class)
			.single();
	}

	private static boolean isLocked(RunningSample sample) {
		Optional<LockHandle> handle = sample.bean(LockOperations.class)
			.tryAcquire(LockRequest.forLock(LockName.of("stock", "42")).waitTime(Duration.ZERO).build());
		handle.ifPresent(LockHandle::close);
		return handle.isEmpty();
	}

}
