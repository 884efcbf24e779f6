package io.holdfast.lock.spi.observation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LossCause;

/**
 * Calls several observations and logs their exceptions instead of propagating them.
 */
final class GuardedLockObservation implements LockObservation {

	private final List<LockObservation> observations;

	GuardedLockObservation(List<LockObservation> observations) {
		this.observations = observations;
	}

	@Override
	public void started() {
		forEach(LockObservation::started);
	}

	@Override
	public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
		forEach((each) -> each.granted(outcome, waited, token));
	}

	@Override
	public void notGranted(AcquireOutcome outcome, Duration waited) {
		forEach((each) -> each.notGranted(outcome, waited));
	}

	@Override
	public Scope openScope() {
		Deque<Scope> innermostFirst = new ArrayDeque<>(this.observations.size());
		forEach((each) -> innermostFirst.push(each.openScope()));
		return () -> innermostFirst.forEach((scope) -> GuardedLockObserver.guard(scope::close));
	}

	@Override
	public void lost(LossCause cause) {
		forEach((each) -> each.lost(cause));
	}

	@Override
	public void released(Duration held) {
		forEach((each) -> each.released(held));
	}

	private void forEach(Consumer<LockObservation> call) {
		this.observations.forEach((each) -> GuardedLockObserver.guard(() -> call.accept(each)));
	}

}
