package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.support.Failures;

/**
 * Combines several holds into one for the caller: held while all are held, lost when one
 * is lost, and released in the reverse order of acquisition.
 */
final class CombinedHold implements HeldLocks {

	private final List<Hold> parts;

	private CombinedHold(List<Hold> parts) {
		this.parts = List.copyOf(parts);
	}

	/**
	 * Combines holds that were acquired in this order.
	 * @throws LockLostException if one was lost while the others were acquired
	 */
	static HeldLocks of(List<Hold> parts) {
		if (parts.size() == 1) {
			return parts.get(0).startMinHold();
		}
		parts.forEach(Hold::requireHeldAtStart);
		parts.forEach(Hold::startMinHold);
		return new CombinedHold(parts);
	}

	/** Releases holds that no code has used, given in acquisition order. */
	static void discard(List<Hold> holds) {
		close(holds, Hold::discard);
	}

	/** Releases all holds, even if one throws. */
	private static CompletableFuture<?> close(List<Hold> holds, Function<Hold, CompletableFuture<?>> closing) {
		List<CompletableFuture<?>> answers = new ArrayList<>(holds.size());
		List<Runnable> innermostFirst = new ArrayList<>(holds.size());
		holds.forEach((hold) -> innermostFirst.add(0, () -> answers.add(closing.apply(hold))));
		Failures.runAll(innermostFirst);
		return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
	}

	@Override
	public List<LockHandle> parts() {
		return List.copyOf(this.parts);
	}

	@Override
	public LockName lock() {
		return this.parts.get(0).lock();
	}

	@Override
	public String backend() {
		return this.parts.get(0).backend();
	}

	@Override
	public LockMode mode() {
		return this.parts.get(0).mode();
	}

	@Override
	public String ownerId() {
		return this.parts.get(0).ownerId();
	}

	@Override
	public FencingToken fencingToken() {
		throw new IllegalStateException(
				"A hold of %s locks has one token per lock, and the first lock is '%s'. Use the tokens of its parts()."
					.formatted(this.parts.size(), lock()));
	}

	@Override
	public Duration remainingValidity() {
		return this.parts.stream().map(Hold::remainingValidity).min(Comparator.naturalOrder()).orElse(Duration.ZERO);
	}

	@Override
	public boolean isHeld() {
		return this.parts.stream().allMatch(Hold::isHeld);
	}

	@Override
	public void verify(Checkpoint checkpoint) {
		this.parts.forEach((part) -> part.verify(checkpoint));
	}

	@Override
	public void requireHeldAtStart() {
		this.parts.forEach(Hold::requireHeldAtStart);
	}

	@Override
	public LockObservation.Scope openScope() {
		Deque<LockObservation.Scope> innermostFirst = new ArrayDeque<>(this.parts.size());
		this.parts.forEach((part) -> innermostFirst.push(part.openScope()));
		return () -> innermostFirst.forEach(LockObservation.Scope::close);
	}

	@Override
	public HeldLocks userManaged() {
		this.parts.forEach(Hold::userManaged);
		return this;
	}

	@Override
	public void setAside(SetAside setAside) {
		// the first hold ends last
		this.parts.get(0).setAside(setAside);
	}

	@Override
	public void onLost(Consumer<LockLostEvent> listener) {
		AtomicBoolean notified = new AtomicBoolean();
		this.parts.forEach((part) -> part.onLost((event) -> {
			if (notified.compareAndSet(false, true)) {
				listener.accept(event);
			}
		}));
	}

	@Override
	public void close() {
		if (this.parts.get(0).isBoundHere()) {
			LockBackend backend = this.parts.get(0).lease().request().backend();
			IdleWait.join(CallerRequests.close(backend, () -> close(this.parts, Hold::release)));
		}
		else {
			close(this.parts, Hold::release);
		}
	}

	@Override
	public CompletableFuture<?> closeAsync() {
		return close(this.parts, Hold::closeAsync);
	}

	@Override
	public CompletableFuture<?> discard() {
		return close(this.parts, Hold::discard);
	}

	@Override
	public String toString() {
		return this.parts.toString();
	}

}
