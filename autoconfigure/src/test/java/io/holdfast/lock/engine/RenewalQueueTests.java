package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RenewalQueue}, in comparison with a sorted list.
 */
class RenewalQueueTests {

	private static final Comparator<RenewalSchedule> ORDER = Comparator
		.comparingLong((RenewalSchedule schedule) -> schedule.at)
		.thenComparingLong((schedule) -> schedule.number);

	private final EngineFixture fixture = new EngineFixture();

	private final RenewalQueue queue = new RenewalQueue();

	private final List<RenewalSchedule> expected = new ArrayList<>();

	@Test
	void firstIsTheNextOneAfterAnyChange() {
		Random random = new Random(42);
		for (int i = 0; i < 2_000; i++) {
			if (this.expected.isEmpty() || random.nextInt(5) < ((i < 1_000) ? 3 : 2)) {
				add(i, random.nextInt(100));
			}
			else {
				RenewalSchedule removed = this.expected.remove(random.nextInt(this.expected.size()));
				this.queue.remove(removed);
			}
			this.expected.sort(ORDER);
			assertThat(this.queue.first()).isSameAs(this.expected.isEmpty() ? null : this.expected.get(0));
		}
	}

	@Test
	void renewalsUpToATimeAreInOrder() {
		Random random = new Random(42);
		for (int i = 0; i < 200; i++) {
			add(i, random.nextInt(100));
		}
		this.expected.removeIf((schedule) -> schedule.at > 50 || schedule.number % 2 == 0);
		this.expected.sort(ORDER);
		assertThat(this.queue.upTo(50, (schedule) -> schedule.number % 2 != 0)).isEqualTo(this.expected);
	}

	@Test
	void pastRenewalsLeaveNoRoom() {
		int before = this.queue.capacity();
		for (int i = 0; i < 1_000; i++) {
			add(i, i % 7);
		}
		this.expected.forEach(this.queue::remove);
		assertThat(this.queue.first()).isNull();
		assertThat(this.queue.capacity()).isEqualTo(before);
	}

	private void add(int number, long at) {
		RenewalSchedule schedule = schedule();
		schedule.number = number;
		schedule.at = at;
		this.queue.add(schedule);
		this.expected.add(schedule);
	}

	private RenewalSchedule schedule() {
		EngineContext context = this.fixture.engine.context();
		LockBackends backends = new LockBackends(List.of(this.fixture.backend), this.fixture.backend.name());
		ResolvedRequest request = ResolvedRequest.of(LockRequest.of("stock", 42), backends, context.settings()).get(0);
		Claim claim = new Claim(request.lock(), OwnerId.random(), LockMode.EXCLUSIVE, request.leaseTime(), true,
				Duration.ZERO, false);
		return StoreLease.of(context, request, new Grant(claim, 1, request.leaseTime()), 0, false).schedule;
	}

}
