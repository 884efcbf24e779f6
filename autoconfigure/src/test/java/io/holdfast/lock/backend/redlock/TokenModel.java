package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * Random model of nodes and clients that compete for one lock, exclusive or shared.
 * Requests and replies get lost or arrive late, nodes restart without memory, and their
 * clocks differ.
 *
 * <p>
 * For half of the seeds, parts of a lock also end at any moment, so that the nodes grant
 * as many tokens as possible. For the other half, parts last as long as their leases. The
 * model then checks after every acquisition that no other client still believes that it
 * holds the lock. It always checks the tokens. For half of each, claims wait for a node
 * to keep the lock for them.
 */
final class TokenModel {

	/** The largest difference between the clocks of the nodes. */
	static final int SKEW = 40;

	static final int LEASE = 240;

	/** How long a node keeps a free lock for a waiter. */
	static final int KEPT = 200;

	private static final int CLIENTS = 3;

	private static final int STEP = 4;

	private final Rules rules;

	private final Random random;

	private final int quorum;

	private final boolean leasesLast;

	private final boolean keepsLocks;

	private final List<ModelNode> nodes = new ArrayList<>();

	private final List<ModelClient> clients = new ArrayList<>();

	private final List<Runnable> late = new ArrayList<>();

	/** The owner of each granted token. */
	private final TreeMap<Long, Integer> given = new TreeMap<>();

	/** The greatest token of an exclusive grant. */
	private long greatestExclusive;

	private long now = 1_000;

	private int owners;

	private int exclusiveGrants;

	private int sharedGrants;

	private int keptLocks;

	private @Nullable String violation;

	TokenModel(long seed, int nodes, Rules rules) {
		this.rules = rules;
		this.random = new Random(seed);
		this.quorum = nodes / 2 + 1;
		this.leasesLast = this.random.nextBoolean();
		this.keepsLocks = this.random.nextBoolean();
		for (int i = 0; i < nodes; i++) {
			this.nodes.add(new ModelNode(this, this.random.nextInt(SKEW)));
		}
		for (int i = 0; i < CLIENTS; i++) {
			this.clients.add(new ModelClient(this));
		}
	}

	/**
	 * Advances the model.
	 * @return the problem with a token or a holder, or {@code null}
	 */
	@Nullable String run(int steps) {
		for (int i = 0; i < steps && this.violation == null; i++) {
			this.now += STEP;
			if (!chance(4)) {
				this.clients.get(this.random.nextInt(CLIENTS)).step();
			}
			else if (!this.late.isEmpty() && chance(3)) {
				this.late.remove(this.random.nextInt(this.late.size())).run();
			}
			else {
				this.nodes.get(this.random.nextInt(this.nodes.size())).injectFault();
			}
		}
		return this.violation;
	}

	/** Returns how often the lock was granted exclusively. */
	int exclusiveGrants() {
		return this.exclusiveGrants;
	}

	/** Returns how often a reader acquired the lock while another reader held it. */
	int sharedGrants() {
		return this.sharedGrants;
	}

	/** Returns how often a claim held the lock without another attempt. */
	int keptLocks() {
		return this.keptLocks;
	}

	void kept() {
		this.keptLocks++;
	}

	/** Delivers the notice of a node to the client, if it still has the claim. */
	void notify(int owner, ModelNode node, ModelNode.Notice notice) {
		this.clients.stream()
			.filter((client) -> client.owner() == owner)
			.forEach((client) -> client.notified(node, notice));
	}

	Rules rules() {
		return this.rules;
	}

	long now() {
		return this.now;
	}

	int quorum() {
		return this.quorum;
	}

	boolean leasesLast() {
		return this.leasesLast;
	}

	boolean keepsLocks() {
		return this.keepsLocks;
	}

	int newOwner() {
		return ++this.owners;
	}

	boolean chance(int oneIn) {
		return this.random.nextInt(oneIn) == 0;
	}

	int upTo(int bound) {
		return this.random.nextInt(bound);
	}

	/** Whether a message arrives; one in ten is lost. */
	boolean arrives() {
		return !chance(10);
	}

	/**
	 * Sends a message whose response no client awaits, and which may arrive at any time.
	 */
	void send(Runnable message) {
		if (chance(5)) {
			this.late.add(message);
		}
		else if (arrives()) {
			message.run();
		}
	}

	List<ModelNode> shuffled() {
		List<ModelNode> all = new ArrayList<>(this.nodes);
		Collections.shuffle(all, this.random);
		return all;
	}

	/** Returns the greatest token of any other owner. */
	long greatestBut(int owner) {
		for (Map.Entry<Long, Integer> entry : this.given.descendingMap().entrySet()) {
			if (entry.getValue() != owner) {
				return entry.getKey();
			}
		}
		return 0;
	}

	void acquired(ModelClient holder, long token, long mustExceed) {
		if (token <= mustExceed) {
			this.violation = "token %d after %d".formatted(token, mustExceed);
		}
		if (!holder.shared()) {
			this.greatestExclusive = Math.max(this.greatestExclusive, token);
		}
		Integer other = this.given.put(token, holder.owner());
		if (other != null && other != holder.owner()) {
			this.violation = "token %d twice".formatted(token);
		}
		holds(holder);
	}

	/**
	 * Checks a grant that is confirmed with the same token. A part that a node has just
	 * confirmed may end before the next node confirms its own, but not if leases last.
	 */
	void stillHeld(ModelClient holder, long token) {
		long greatest = holder.shared() ? this.greatestExclusive : this.given.lastKey();
		if (this.leasesLast && greatest > token) {
			this.violation = "token %d given again after %d".formatted(token, greatest);
		}
		holds(holder);
	}

	private void holds(ModelClient holder) {
		List<ModelClient> others = this.clients.stream()
			.filter((client) -> client != holder && client.believesHeld())
			.toList();
		if (!holder.shared()) {
			this.exclusiveGrants++;
		}
		else if (others.stream().anyMatch(ModelClient::shared)) {
			this.sharedGrants++;
		}
		if (this.leasesLast && others.stream().anyMatch((other) -> !(holder.shared() && other.shared()))) {
			this.violation = "held twice";
		}
	}

	/**
	 * Rules that can be switched off to show that each one matters.
	 *
	 * @param writeBack a token counts when a majority remembers it
	 * @param floor a restarted node grants no token below those that it lost
	 * @param refusesSmallerToken a node agrees to no token below the one that it granted
	 * to this owner
	 * @param refusesTokenOfAnother a node agrees to no token that it may have granted to
	 * another reader
	 * @param newTokenWhereOthersFollowed a reader that retries does not bring an old
	 * token into a new vote
	 * @param quarantine a restarted node does not vote for the duration of a lease
	 * @param attempts undoing an attempt leaves later attempts alone
	 * @param readersKeepWritersOut a writer needs a majority without readers
	 * @param memoryEndsWithTheLease a client whose lease has expired remembers no token
	 * when it retries
	 * @param sameKeptToken a waiter holds the lock only if a majority keeps it with the
	 * same token
	 * @param noticeAfterRejection a notice counts only if its node has rejected the
	 * latest attempt before
	 * @param keptTimeOfTheNode the validity begins when the node begins to keep the lock
	 */
	record Rules(boolean writeBack, boolean floor, boolean refusesSmallerToken, boolean refusesTokenOfAnother,
			boolean newTokenWhereOthersFollowed, boolean quarantine, boolean attempts, boolean readersKeepWritersOut,
			boolean memoryEndsWithTheLease, boolean sameKeptToken, boolean noticeAfterRejection,
			boolean keptTimeOfTheNode) {

		static final Rules ALL = new Rules(true, true, true, true, true, true, true, true, true, true, true, true);

		/** Returns all rules but one. */
		static Rules without(int index) {
			boolean[] on = new boolean[12];
			for (int i = 0; i < on.length; i++) {
				on[i] = i != index;
			}
			return new Rules(on[0], on[1], on[2], on[3], on[4], on[5], on[6], on[7], on[8], on[9], on[10], on[11]);
		}

	}

}
