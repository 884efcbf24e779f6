package io.holdfast.lock.backend.etcd;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.AdditionalMatchers;
import org.mockito.ArgumentCaptor;
import org.mockito.ArgumentMatchers;
import org.mockito.Mockito;

import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a {@link KeyWatch} that breaks, without a server.
 */
class KeyWatchTests {

	private final EtcdClient client = Mockito.mock();

	private final SchedulingClock clock = Mockito.mock();

	private final Runnable cancelsTimer = Mockito.mock();

	private KeyWatch broken;

	@BeforeEach
	void breakWatch() {
		Mockito.when(this.client.watch(ArgumentMatchers.any(), ArgumentMatchers.any()))
			.thenReturn(Mockito.mock(Runnable.class));
		Mockito.when(this.clock.after(AdditionalMatchers.gt(0L), ArgumentMatchers.any())).thenReturn(this.cancelsTimer);
		this.broken = KeyWatch.on(new EtcdCalls(this.client, "/holdfast"), this.clock, "key", 1);
		this.broken.broken();
	}

	/** Otherwise, requests follow each other without a pause while every watch breaks. */
	@Test
	void brokenWatchSignalsAfterAPause() {
		ArgumentCaptor<Runnable> timer = ArgumentCaptor.captor();
		Mockito.verify(this.clock).after(AdditionalMatchers.gt(0L), timer.capture());
		assertThat(this.broken.signal().toCompletableFuture()).isNotDone();
		timer.getValue().run();
		assertThat(this.broken.signal().toCompletableFuture()).isCompleted();
	}

	@Test
	void closedWatchLeavesNoTimer() {
		this.broken.close();
		Mockito.verify(this.cancelsTimer).run();
		assertThat(this.broken.signal().toCompletableFuture()).isNotDone();
	}

	/** The client reports the end of each watch, also of one that was closed. */
	@Test
	void endOfAClosedWatchSetsNoTimer() {
		KeyWatch closed = KeyWatch.on(new EtcdCalls(this.client, "/holdfast"), this.clock, "other", 1);
		Mockito.clearInvocations(this.clock);
		closed.close();
		closed.broken();
		Mockito.verifyNoInteractions(this.clock);
	}

}
