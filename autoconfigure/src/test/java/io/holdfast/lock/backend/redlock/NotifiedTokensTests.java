package io.holdfast.lock.backend.redlock;

import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

class NotifiedTokensTests {

	private final AtomicLong now = new AtomicLong();

	private final NotifiedTokens tokens = new NotifiedTokens(new SchedulingClock() {

		@Override
		public long nanos() {
			return NotifiedTokensTests.this.now.get();
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			throw new UnsupportedOperationException();
		}

	});

	private final OwnerId owner = OwnerId.random();

	@Test
	void tokenIsKnownUntilItsLeaseEnds() {
		this.tokens.put(this.owner, 7, 100);
		this.now.set(99);
		assertThat(this.tokens.find(this.owner)).hasValue(7);
		this.now.set(100);
		assertThat(this.tokens.find(this.owner)).isEmpty();
	}

	@Test
	void renewalExtendsIt() {
		this.tokens.put(this.owner, 7, 100);
		this.tokens.extend(this.owner, 200);
		this.tokens.extend(this.owner, 150);
		this.now.set(199);
		assertThat(this.tokens.find(this.owner)).hasValue(7);
	}

	@Test
	void renewalAnsweredAfterTheExpiryDoesNotRestoreIt() {
		this.tokens.put(this.owner, 7, 100);
		this.now.set(100);
		this.tokens.extend(this.owner, 200);
		assertThat(this.tokens.find(this.owner)).isEmpty();
		assertThat(this.tokens.size()).isZero();
	}

	@Test
	void tokensOfEndedLeasesDoNotFillTheHeap() {
		for (int i = 0; i < 10_000; i++) {
			this.now.set(i);
			this.tokens.put(OwnerId.random(), i, i + 10);
		}
		assertThat(this.tokens.size()).isLessThan(2_100);
	}

}
