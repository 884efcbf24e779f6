package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.ForwardingBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link CallerRequests}: which thread releases a lock at a blocking backend.
 */
class CallerRequestsTests {

	private final FakeBackend backend = new FakeBackend();

	private final CompletableFuture<Thread> sender = new CompletableFuture<>();

	@AutoClose
	private final LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), "fake"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	@BeforeEach
	void recordTheSender() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		this.backend.releasesOnCaller = true;
		this.backend.releases.add((grant) -> {
			this.sender.complete(Thread.currentThread());
			return CompletableFuture.completedFuture(this.backend.free(grant.claim()));
		});
	}

	private LockHandle acquired() {
		return this.engine.acquire(LockRequest.of("stock", 42));
	}

	private Thread sender() throws Exception {
		return this.sender.get(10, TimeUnit.SECONDS);
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

	@Test
	void closingThreadSendsTheRelease() {
		acquired().close();
		assertThat(this.sender).isCompletedWithValue(Thread.currentThread());
	}

	@Test
	void closingThreadSendsTheReleasesOfSeveralLocks() {
		this.backend.releases.add(this.backend.releases.element());
		this.engine.acquire(LockRequest.forLocks(List.of(LockName.of("stock", "1"), LockName.of("stock", "2"))).build())
			.close();
		assertThat(this.sender).isCompletedWithValue(Thread.currentThread());
		assertThat(this.backend.holdsAny()).isFalse();
	}

	@Test
	void workerSendsTheReleaseIfTheBackendObjects() throws Exception {
		this.backend.releasesOnCaller = false;
		acquired().close();
		assertThat(sender()).isNotSameAs(Thread.currentThread());
	}

	@Test
	void workerSendsTheReleaseIfTheBackendThrows() throws Exception {
		ForwardingBackend broken = new ForwardingBackend(this.backend) {
			@Override
			public boolean releasesOnCaller() {
				throw new IllegalStateException("broken");
			}
		};
		try (LockEngine ofBroken = new LockEngine(new LockBackends(List.of(broken), "fake"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of())) {
			ofBroken.acquire(LockRequest.of("stock", 42)).close();
			assertThat(sender()).isNotSameAs(Thread.currentThread());
		}
	}

	/** Kotlin throws it undeclared. */
	@Test
	void interruptOfABackendThatIsAskedIsKept() {
		boolean here = CallerRequests.maySend(() -> {
			CallerRequestsTests.<RuntimeException>throwUndeclared(new InterruptedException());
			return true;
		});
		assertThat(Thread.interrupted()).isTrue();
		assertThat(here).isFalse();
	}

	@Test
	void workerSendsTheReleaseOfAnInterruptedThread() throws Exception {
		LockHandle handle = acquired();
		Thread.currentThread().interrupt();
		handle.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(sender()).isNotSameAs(Thread.currentThread());
	}

	@Test
	void threadWithoutTheHoldSendsNoRelease() throws Exception {
		LockHandle handle = acquired();
		Thread other = new Thread(handle::close);
		other.start();
		other.join();
		assertThat(sender()).isNotIn(other, Thread.currentThread());
	}

	@Test
	void releaseFollowsEverythingElseThatTheCloseDoes() {
		List<String> steps = new ArrayList<>();
		String result = CallerRequests.close(this.backend, () -> {
			assertThat(CallerRequests.add(() -> steps.add("release"))).isTrue();
			CallerRequests.close(this.backend, () -> CallerRequests.add(() -> steps.add("inner release")));
			steps.add("restore");
			return "closed";
		});
		assertThat(result).isEqualTo("closed");
		assertThat(steps).containsExactly("inner release", "restore", "release");
		assertThat(CallerRequests.add(() -> steps.add("none"))).isFalse();
	}

	@Test
	void releaseIsSentThoughTheCloseThrows() {
		List<String> steps = new ArrayList<>();
		assertThatIllegalStateException().isThrownBy(() -> CallerRequests.close(this.backend, () -> {
			CallerRequests.add(() -> steps.add("release"));
			throw new IllegalStateException("restore");
		}));
		assertThat(steps).containsExactly("release");
		assertThat(CallerRequests.add(() -> steps.add("none"))).isFalse();
	}

}
