package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests thousands of random histories of a lock, on a clock that only the test advances.
 * A history has two JVMs, a store behind an unreliable network ({@link UnreliableStore}),
 * pauses, and holders that re-enter, release or let their leases expire. At every step, a
 * holder whose hold is valid must hold the lock by the store's own clock. A successor
 * therefore never starts before the validity of its predecessor has ended.
 */
class ValidityPropertyTests {

	private static final int HISTORIES = Boolean.getBoolean("thorough") ? 50_000 : 100;

	private static final int STEPS = 40;

	private static final int CHECKS = 25;

	@Slow
	@Test
	void validityNeverOutlastsTheStoreLease() {
		long granted = 0;
		long lost = 0;
		for (long seed = 0; seed < HISTORIES; seed++) {
			History history = new History(seed);
			history.run();
			granted += history.holds.size();
			lost += history.losses.size();
		}
		assertThat(granted).as("holds that were checked").isGreaterThan(2L * HISTORIES);
		assertThat(lost).as("losses among them").isBetween(granted / 100, granted);
	}

	private static final class History {

		private final long seed;

		private final SplittableRandom random;

		private final ManualTime time = new ManualTime();

		private final Duration lease;

		private final UnreliableStore store;

		private final List<LockLostEvent> losses = new ArrayList<>();

		private final List<LockEngine> engines;

		private final List<CompletableFuture<LockHandle>> requested = new ArrayList<>();

		private final List<Held> holds = new ArrayList<>();

		History(long seed) {
			this.seed = seed;
			this.random = new SplittableRandom(seed);
			this.lease = Duration.ofMillis(10 + (long) Math.exp(this.random.nextDouble() * Math.log(60_000)));
			this.store = new UnreliableStore(this.time, this.random, this.lease);
			this.engines = Stream.generate(this::engine).limit(2).toList();
		}

		private LockEngine engine() {
			Duration responseTimeout = Duration.ofNanos(this.lease.toNanos() / (2 + this.random.nextInt(10)));
			EngineSettings settings = settings().waitTime(this.lease)
				.leaseTime(this.lease)
				.responseTimeout(responseTimeout)
				.shutdownTimeout(Duration.ZERO)
				.build();
			LockObserver observer = new LockObserver() {
				@Override
				public void lost(LockLostEvent event) {
					History.this.losses.add(event);
				}
			};
			return new LockEngine(new LockBackends(List.of(this.store), "unreliable"), settings,
					TransactionBoundary.NONE, observer, this.time, Runnable::run, () -> {
					});
		}

		void run() {
			for (int step = 0; step < STEPS; step++) {
				step();
				timePasses();
			}
			for (int i = 0; i < CHECKS; i++) {
				check();
				this.holds.forEach(Held::leaveAll);
				this.time.advance(this.lease);
			}
			assertThat(this.requested).as("acquisitions without an end, " + this).isEmpty();
			for (Held held : this.holds) {
				assertThat(held.notified).as("losses reported to a listener, " + this).hasSizeLessThanOrEqualTo(1);
				assertThat(held.notified.size() == 1).as("lost, " + this).isEqualTo(held.hold.lease().lost());
			}
			assertThat(this.losses).as("losses observed, " + this)
				.hasSize((int) this.holds.stream().filter((held) -> held.hold.lease().lost()).count());
			assertThat(this.engines).as("watched, " + this)
				.allMatch((engine) -> engine.context().watchdog().size() == 0);
		}

		private void step() {
			int what = this.random.nextInt(4);
			if (what == 0 || this.holds.isEmpty()) {
				LockRequest request = LockRequest.forLock(LockName.of("stock"))
					.waitTime(this.lease.multipliedBy(3))
					.renew(this.random.nextInt(4) > 0)
					.build();
				this.requested
					.add(this.engines.get(this.random.nextInt(2)).acquireAsync(request).toCompletableFuture());
				return;
			}
			Held held = this.holds.get(this.holds.size() - 1 - this.random.nextInt(Math.min(2, this.holds.size())));
			if (what == 1) {
				held.enter();
			}
			else if (what == 2) {
				held.leave();
			}
		}

		/** Advances the time, with an occasional pause that makes everything late. */
		private void timePasses() {
			if (this.random.nextInt(20) == 0) {
				this.time.pause(part(1.5));
			}
			for (int i = 0; i < CHECKS; i++) {
				check();
				this.time.advance(part(0.03));
			}
		}

		private Duration part(double most) {
			return Duration.ofNanos((long) (this.lease.toNanos() * most * this.random.nextDouble()));
		}

		private void check() {
			this.requested.removeIf((handle) -> {
				boolean granted = handle.isDone() && !handle.isCompletedExceptionally();
				if (granted) {
					this.holds.add(new Held((Hold) handle.join()));
				}
				return handle.isDone();
			});
			for (Held held : this.holds) {
				held.check(this);
			}
			if (!this.store.faults.isEmpty()) {
				fail(this.store.faults + ", " + this);
			}
		}

		@Override
		public String toString() {
			return "seed %d, lease %s, at %s".formatted(this.seed, this.lease, Duration.ofNanos(this.time.nanos()));
		}

	}

	/** A hold, its re-entrant holds, and the losses that it has reported. */
	private static final class Held {

		private final Hold hold;

		private final List<Hold> open = new ArrayList<>();

		private final List<LockLostEvent> notified = new ArrayList<>();

		private boolean over;

		Held(Hold hold) {
			this.hold = hold;
			this.open.add(hold);
			hold.onLost(this.notified::add);
		}

		void enter() {
			try {
				Hold again = this.open.isEmpty() ? null : this.open.get(0).reenter(Duration.ZERO);
				if (again != null) {
					assertThat(again.fencingToken()).isEqualTo(this.hold.fencingToken());
					this.open.add(again);
				}
			}
			catch (LockLostException ex) {
				assertThat(this.open.get(0).isHeld()).isFalse();
			}
		}

		void leave() {
			if (!this.open.isEmpty()) {
				this.open.remove(this.open.size() - 1).close();
			}
		}

		/** The outer hold ends last: one that ends earlier no longer learns of a loss. */
		void leaveAll() {
			while (!this.open.isEmpty()) {
				leave();
			}
		}

		void check(History history) {
			boolean held = this.open.stream().anyMatch(Hold::isHeld);
			if (held && !history.store.isHeldBy(this.hold.ownerId())) {
				fail("held here, but not at the store, " + history);
			}
			if (held != this.open.stream().anyMatch((hold) -> hold.remainingValidity().toNanos() > 0)) {
				fail("held and valid differ, " + history);
			}
			if (held && this.over) {
				fail("held after its end, " + history);
			}
			this.over |= this.open.isEmpty() || !this.notified.isEmpty();
		}

	}

}
