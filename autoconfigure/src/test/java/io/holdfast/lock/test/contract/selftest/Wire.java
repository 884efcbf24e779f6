package io.holdfast.lock.test.contract.selftest;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;

/**
 * A sound client of the server. Its connection can lose a reply, break, or stop
 * delivering responses. The server still processes a request whose response is lost.
 */
class Wire implements LockBackend {

	private final Server server;

	private final Map<OwnerId, CompletableFuture<Void>> session = new ConcurrentHashMap<>();

	private volatile boolean losing;

	private volatile boolean unresponsive;

	Wire(Server server) {
		this.server = server;
	}

	final Server server() {
		return this.server;
	}

	/** Drops the next response only. */
	final void loseNextReply() {
		this.losing = true;
	}

	final void stopReplying() {
		this.unresponsive = true;
	}

	final boolean isUnresponsive() {
		return this.unresponsive;
	}

	final void restoreReplies() {
		this.losing = false;
		this.unresponsive = false;
	}

	/** Ends the grants of this client on the server and notifies the client. */
	void killSession() {
		this.session.forEach((owner, revoked) -> {
			this.server.latest()
				.values()
				.stream()
				.map(Grant::claim)
				.filter((claim) -> claim.owner().equals(owner))
				.forEach(this.server.store()::abandon);
			revoked.complete(null);
		});
		this.session.clear();
	}

	@Override
	public String name() {
		return "selftest";
	}

	@Override
	public BackendCapabilities capabilities() {
		return this.server.store().capabilities();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		CompletionStage<AcquireResult> answer = this.server.store().tryAcquire(claim).thenApply((result) -> {
			if (result instanceof Acquired acquired) {
				return new Acquired(inSession(acquired.grant()));
			}
			return result;
		});
		return arrives() ? answer : CompletableFuture.completedStage(unanswered(claim));
	}

	private Grant inSession(Grant grant) {
		this.server.latest().put(grant.claim().lock(), grant);
		CompletableFuture<Void> revoked = this.session.computeIfAbsent(grant.claim().owner(),
				(owner) -> new CompletableFuture<>());
		return new Grant(grant.claim(), grant.storeToken(), grant.lease(), revoked, grant.wanted());
	}

	/** Returns the result of an acquisition whose response was lost. */
	AcquireResult unanswered(Claim claim) {
		return new AcquireResult.Indeterminate(new IOException("no answer"));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		CompletionStage<List<RenewResult>> answer = this.server.store().renew(grants);
		return arrives() ? answer : CompletableFuture.failedStage(new LockBackendException("no answer"));
	}

	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		CompletionStage<Boolean> answer = this.server.store().retain(grant, remaining);
		return arrives() ? answer : CompletableFuture.failedStage(new LockBackendException("no answer"));
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		CompletionStage<ReleaseResult> answer = this.server.store().release(grant);
		if (!arrives()) {
			return CompletableFuture.completedStage(new ReleaseResult.Indeterminate(new IOException("no answer")));
		}
		this.session.remove(grant.claim().owner());
		return answer;
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.server.store()
			.find(lock)
			.thenApply((state) -> new LockState(lock, name(), state.holders(), state.waiters()));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.server.store().status();
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		this.session.remove(claim.owner());
		CompletionStage<Void> answer = this.server.store().abandon(claim);
		return arrives() ? answer : CompletableFuture.failedStage(new LockBackendException("no answer"));
	}

	private boolean arrives() {
		boolean lost = this.losing || this.unresponsive;
		this.losing = false;
		return !lost;
	}

}
