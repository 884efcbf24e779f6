package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.test.ForwardingBackend;

/**
 * A store that grants locks and answers no query.
 */
final class SilentBackend extends ForwardingBackend {

	SilentBackend() {
		super(new LocalLockBackend());
	}

	@Override
	public String name() {
		return "silent";
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return new CompletableFuture<>();
	}

}
