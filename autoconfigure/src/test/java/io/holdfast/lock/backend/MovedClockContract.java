package io.holdfast.lock.backend;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contract tests for stores whose leases expire by the wall clock of a server, when that
 * clock moves. Two owners may hold a lock for a moment, but tokens grow, the store
 * rejects the first owner's renewal, and no lock stays unavailable.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class MovedClockContract {

	private static final Duration FAR = Duration.ofHours(2);

	private LockBackend first;

	private LockBackend second;

	/** Returns another client of the store, which this class closes. */
	protected abstract LockBackend connect();

	/** Moves the clock of the store, or the clocks of all its servers. */
	protected abstract void moveClock(Duration fromNow);

	protected final LockBackend first() {
		return this.first;
	}

	protected final LockBackend second() {
		return this.second;
	}

	@BeforeAll
	void connectBoth() {
		this.first = connect();
		this.second = connect();
	}

	@AfterAll
	void closeBoth() throws Exception {
		for (LockBackend backend : List.of(this.first, this.second)) {
			if (backend instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	@AfterEach
	void rightClock() {
		moveClock(Duration.ZERO);
	}

	private static LockName fresh() {
		return LockName.of("moved-clock", UUID.randomUUID().toString());
	}

	@Test
	void clockJumpAdmitsASecondHolderAndNotifiesTheFirst() throws Exception {
		LockName lock = fresh();
		Grant before = soonGranted(first(), claim(lock));
		refused(second(), claim(lock));
		moveClock(FAR);
		Grant after = soonGranted(second(), claim(lock));
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		assertThat(renewed(first(), before)).isInstanceOf(RenewResult.Refused.class);
		assertThat(answer(first().release(before))).isInstanceOf(ReleaseResult.NotHeld.class);
		assertThat(renewed(second(), after)).isInstanceOf(RenewResult.Renewed.class);
		released(second(), after);
	}

	@Test
	void clockMovedBackEndsNoLeaseAndTokensKeepGrowing() throws Exception {
		LockName lock = fresh();
		Grant before = soonGranted(first(), claim(lock));
		moveClock(FAR.negated());
		refused(second(), claim(lock));
		assertThat(renewed(first(), before)).isInstanceOf(RenewResult.Renewed.class);
		released(first(), before);
		free(before);
	}

	@Test
	void lockReleasedWhileTheClockWasAheadIsFreeAfterwards() throws Exception {
		LockName lock = fresh();
		moveClock(FAR);
		Grant before = soonGranted(first(), claim(lock));
		released(first(), before);
		moveClock(Duration.ZERO);
		free(before);
	}

	@Test
	void lockAcquiredWhileTheClockWasAheadCanBeReleased() throws Exception {
		LockName lock = fresh();
		moveClock(FAR);
		Grant before = soonGranted(first(), claim(lock));
		moveClock(Duration.ZERO);
		refused(second(), claim(lock));
		assertThat(renewed(first(), before)).isInstanceOf(RenewResult.Renewed.class);
		released(first(), before);
		free(before);
	}

	@Test
	void claimAbandonedWhileTheClockWasAheadBlocksNoOther() throws Exception {
		LockName lock = fresh();
		moveClock(FAR);
		Grant before = soonGranted(first(), claim(lock));
		answer(first().abandon(before.claim()));
		moveClock(Duration.ZERO);
		released(second(), soonGranted(second(), claim(lock)));
	}

	/** The instance of the writer has crashed, so that nothing withdraws its claim. */
	@Test
	@Slow
	void crashedWriterBlocksNoReaderAfterTheClockMovedBack() throws Exception {
		LockName lock = fresh();
		Grant before = soonGranted(first(), reader(lock));
		refused(second(), claim(lock));
		moveClock(FAR.negated());
		released(first(), before);
		released(first(), soonGranted(first(), reader(lock)));
	}

	private static Claim reader(LockName lock) {
		return new Claim(lock, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), true, Duration.ofMinutes(1),
				false);
	}

	/** Asserts that another owner acquires the lock now, with a greater token. */
	private void free(Grant before) throws Exception {
		Grant after = soonGranted(second(), claim(before.claim().lock()));
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		released(second(), after);
	}

}
