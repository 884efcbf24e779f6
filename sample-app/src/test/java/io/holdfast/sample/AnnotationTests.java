package io.holdfast.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.Unlocked;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that annotated methods hold the locks that the documentation states.
 */
class AnnotationTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
		.withBean(Seats.class)
		.withBean(Report.class)
		.withBean(Ledger.class);

	@Test
	void keysIdentifyOneOrSeveralLocks() {
		this.application.run((context) -> {
			Seats seats = context.getBean(Seats.class);
			assertThat(seats.reserve("premiere", 7)).isEqualTo("seat:premiere,7");
			assertThat(seats.reserveAll(List.of(3, 1))).isEqualTo("seats:1 seats:3");
			assertThat(seats.cancel(new Booking("premiere", 7))).isEqualTo("booking:7");
		});
	}

	@Test
	void fallbackIsCalledWhileAnotherHoldsTheLock() {
		this.application.run((context) -> {
			Report report = context.getBean(Report.class);
			LockHandle other = context.getBean(LockOperations.class)
				.acquireAsync(LockRequest.of("report", "may"))
				.toCompletableFuture()
				.join();
			assertThat(report.create("may")).isEqualTo("The report of may is being created");
			other.close();
			assertThat(report.create("may")).isEqualTo("report:may");
		});
	}

	@Test
	void classAppliesToItsPublicMethods() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			assertThat(ledger.post()).isEqualTo("ledger");
			assertThat(ledger.title()).isEqualTo("none");
		});
	}

	private static String held() {
		return LockContext.handles()
			.stream()
			.map((handle) -> handle.lock().toString())
			.sorted()
			.collect(
					Collectors.collectingAndThen(Collectors.joining(" "), (locks) -> locks.isEmpty() ? "none" : locks));
	}

	// tag::composed[]
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "booking", waitTime = "2s")
	@interface BookingLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}
	// end::composed[]

	record Booking(String show, int seat) {
	}

	static class Seats {

		// tag::keys[]
		@DistributedLock(name = "seat", keys = { "#show", "#number" })
		public String reserve(String show, int number) {
			return held(); // seat:premiere,7
		}

		@DistributedLock(name = "seats", key = "#numbers")
		public String reserveAll(List<Integer> numbers) {
			return held(); // seats:1 and seats:3, or neither
		}
		// end::keys[]

		// tag::use[]
		@BookingLock("#booking.seat()")
		public String cancel(Booking booking) {
			return held(); // booking:7
		}
		// end::use[]

	}

	static class Report {

		// tag::fallback[]
		@DistributedLock(name = "report", key = "#month", waitTime = "0s", fallback = "inProgress")
		public String create(String month) {
			return held(); // report:may
		}

		String inProgress(String month, LockNotAcquiredException reason) {
			return "The report of " + month + " is being created";
		}
		// end::fallback[]

	}

	// tag::class[]
	@DistributedLock("ledger")
	static class Ledger {

		public String post() {
			return held(); // ledger
		}

		@Unlocked
		public String title() {
			return held(); // none
		}

	}
	// end::class[]

}
