package io.holdfast.lock.backend.redlock;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * One client of a {@link TokenModel}, which acts as {@link QuorumAcquisition} and
 * {@link RedlockRenewals} do, one message at a time.
 */
final class ModelClient {

	private static final int MOST_ROUNDS = 3;

	private enum State {

		IDLE, ASKS, WAITS, AGREES, RENEWS, HOLDS, PAUSED

	}

	private final TokenModel world;

	private final Map<ModelNode, ModelNode.Vote> votes = new HashMap<>();

	private final Map<ModelNode, ModelNode.Vote> rejections = new HashMap<>();

	private final Map<ModelNode, ModelNode.Notice> notices = new HashMap<>();

	private final Set<ModelNode> confirmed = new HashSet<>();

	private State state = State.IDLE;

	private List<ModelNode> toAsk = List.of();

	private int owner;

	private boolean shared;

	private int attempt;

	/** The token of the grant, or zero. */
	private long heldToken;

	/** The token that the nodes are to agree on. */
	private long proposed;

	private int round;

	private long refusedFor;

	private long mustExceed;

	private long askedAt;

	private long validUntil;

	ModelClient(TokenModel world) {
		this.world = world;
	}

	int owner() {
		return this.owner;
	}

	boolean shared() {
		return this.shared;
	}

	/** Whether this client holds the lock, as far as it knows. */
	boolean believesHeld() {
		return this.heldToken > 0 && this.world.now() < this.validUntil;
	}

	void step() {
		switch (this.state) {
			case IDLE -> start();
			case ASKS -> ask();
			case WAITS -> await();
			case AGREES -> agree();
			case RENEWS -> renew();
			case HOLDS -> hold();
			case PAUSED -> pause();
		}
	}

	private void start() {
		this.owner = this.world.newOwner();
		this.shared = this.world.chance(2);
		this.attempt = 0;
		this.heldToken = 0;
		attempt();
	}

	private void attempt() {
		this.attempt += 2;
		this.mustExceed = this.world.greatestBut(this.owner);
		this.votes.clear();
		this.rejections.clear();
		this.notices.clear();
		enter(State.ASKS);
	}

	private void enter(State next) {
		this.state = next;
		this.confirmed.clear();
		this.toAsk = this.world.shuffled();
		if (next != State.AGREES) {
			this.askedAt = this.world.now();
		}
	}

	private void ask() {
		if (this.votes.size() >= this.world.quorum()) {
			vote();
		}
		else if (this.toAsk.isEmpty()) {
			if (!this.world.keepsLocks() || this.rejections.isEmpty() || this.world.chance(4)) {
				undo();
			}
			else {
				undoAndWait();
			}
		}
		else {
			ModelNode node = this.toAsk.remove(0);
			ModelNode.Vote vote = this.world.arrives() ? node.acquire(this.owner, this.shared, this.attempt) : null;
			if (vote != null && this.world.arrives()) {
				(vote.rejectedAt() > 0 ? this.rejections : this.votes).put(node, vote);
			}
		}
	}

	/** Waits for notices. Nodes that rejected the claim have nothing to undo. */
	private void undoAndWait() {
		forget();
		sendRelease(this.attempt, (node) -> !this.rejections.containsKey(node));
		this.state = State.WAITS;
	}

	void notified(ModelNode node, ModelNode.Notice notice) {
		this.notices.put(node, notice);
	}

	/** Counts the notices as {@link WaitingClaim} does. */
	private void await() {
		List<ModelNode> valid = this.notices.keySet().stream().filter(this::isOfThisAttempt).toList();
		boolean same = this.world.rules().sameKeptToken();
		long token = valid.stream().mapToLong(this::keptToken).max().orElse(0);
		List<ModelNode> agreed = valid.stream().filter((node) -> !same || keptToken(node) == token).toList();
		if (agreed.size() >= this.world.quorum()) {
			long until = agreed.stream().mapToLong(this::keptUntil).min().orElseThrow();
			this.world.kept();
			held(token, until);
		}
		else if (this.world.chance(20)) {
			retryOrEnd();
		}
	}

	private long keptToken(ModelNode node) {
		return this.notices.get(node).token();
	}

	private boolean isOfThisAttempt(ModelNode node) {
		ModelNode.Notice notice = this.notices.get(node);
		ModelNode.Vote rejection = this.rejections.get(node);
		return !this.world.rules().noticeAfterRejection()
				|| (rejection != null && notice.token() > rejection.token() && notice.since() > rejection.rejectedAt());
	}

	private long keptUntil(ModelNode node) {
		ModelNode.Vote rejection = this.rejections.get(node);
		if (!this.world.rules().keptTimeOfTheNode()) {
			return this.world.now() + TokenModel.KEPT;
		}
		long after = (rejection != null) ? this.notices.get(node).since() - rejection.rejectedAt() : 0;
		return this.askedAt + after + TokenModel.KEPT;
	}

	private void vote() {
		// nodes that were not asked yet may still grant the lock, unseen by the vote
		for (ModelNode node : this.toAsk) {
			if (this.world.arrives()) {
				node.acquire(this.owner, this.shared, this.attempt);
			}
		}
		long unbroken = this.votes.values().stream().filter(ModelNode.Vote::before).count();
		boolean remembers = this.world.rules().memoryEndsWithTheLease() ? believesHeld() : this.heldToken > 0;
		if (remembers && unbroken >= this.world.quorum()) {
			held(this.heldToken);
			return;
		}
		TokenAgreement vote = TokenAgreement.of(this.votes.values().stream().map(ModelNode.Vote::token).toList(),
				this.world.quorum());
		if (vote.agreed()) {
			held(vote.token());
		}
		else if (!this.world.rules().writeBack()) {
			held(vote.token() - 1);
		}
		else {
			this.round = 1;
			propose(vote.token());
		}
	}

	private void propose(long token) {
		this.proposed = token;
		this.refusedFor = 0;
		enter(State.AGREES);
	}

	private void agree() {
		if (this.confirmed.size() >= this.world.quorum()) {
			held(this.proposed);
		}
		else if (!this.toAsk.isEmpty()) {
			ModelNode node = this.toAsk.remove(0);
			long answer = this.world.arrives() ? node.agree(this.owner, this.proposed) : -1;
			if (answer == 0 && this.world.arrives()) {
				this.confirmed.add(node);
			}
			this.refusedFor = Math.max(this.refusedFor, answer);
		}
		else if (this.refusedFor >= this.proposed && this.round++ < MOST_ROUNDS) {
			propose(this.refusedFor + 1 + this.world.upTo(3));
		}
		else {
			undo();
		}
	}

	private void held(long token) {
		held(token, this.askedAt + TokenModel.LEASE);
	}

	private void held(long token, long until) {
		if (this.world.now() >= until) {
			undo();
			return;
		}
		boolean same = token == this.heldToken;
		this.heldToken = token;
		this.validUntil = until;
		this.state = State.HOLDS;
		if (same) {
			this.world.stillHeld(this, token);
		}
		else {
			this.world.acquired(this, token, this.mustExceed);
		}
	}

	private void hold() {
		switch (this.world.upTo(4)) {
			case 0 -> end();
			case 1 -> enter(State.RENEWS);
			case 2 -> attempt();
			default -> this.state = State.PAUSED;
		}
	}

	/**
	 * Waits until the lease has expired. The owner then retries, or knows that it no
	 * longer holds the lock.
	 */
	private void pause() {
		if (!believesHeld()) {
			if (this.world.chance(2)) {
				attempt();
			}
			else {
				end();
			}
		}
	}

	private void renew() {
		if (this.confirmed.size() >= this.world.quorum()) {
			if (believesHeld()) {
				this.validUntil = this.askedAt + TokenModel.LEASE;
				this.state = State.HOLDS;
				this.world.stillHeld(this, this.heldToken);
			}
			else {
				end();
			}
		}
		else if (this.toAsk.isEmpty()) {
			this.state = State.HOLDS;
		}
		else {
			ModelNode node = this.toAsk.remove(0);
			if (this.world.arrives() && node.renew(this.owner) && this.world.arrives()) {
				this.confirmed.add(node);
			}
		}
	}

	/** Undoes the attempt. The owner may retry before the release has arrived. */
	private void undo() {
		forget();
		sendRelease(this.attempt, (node) -> true);
		retryOrEnd();
	}

	private void forget() {
		this.validUntil = 0;
		if (this.world.rules().memoryEndsWithTheLease()) {
			this.heldToken = 0;
		}
	}

	private void retryOrEnd() {
		if (this.world.chance(2)) {
			attempt();
		}
		else {
			end();
		}
	}

	private void end() {
		this.heldToken = 0;
		sendRelease(-1, (node) -> true);
		this.state = State.IDLE;
	}

	private void sendRelease(int last, Predicate<ModelNode> which) {
		int releasedOwner = this.owner;
		for (ModelNode node : this.world.shuffled().stream().filter(which).toList()) {
			this.world.send(() -> node.release(releasedOwner, last));
		}
	}

}
