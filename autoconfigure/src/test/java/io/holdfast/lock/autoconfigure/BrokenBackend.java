package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * A store that grants locks and loses its connection at each revocation.
 */
final class BrokenBackend extends ForwardingBackend {

	BrokenBackend() {
		super(new LocalLockBackend());
	}

	@Override
	public String name() {
		return "broken";
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return CompletableFuture.failedStage(new IllegalStateException("connection reset"));
	}

}
