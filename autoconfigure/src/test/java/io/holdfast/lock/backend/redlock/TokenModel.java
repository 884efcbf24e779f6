package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * A world of nodes and clients that fight for one lock, alone or shared, one random step
 * after another: requests and replies get lost or come late, nodes restart without memory
 * and their clocks differ. In one half of the worlds parts of a lock also end at any
 * moment, so that as many tokens as possible are given; in the other they last as long as
 * their leases, and after every acquisition it looks whether somebody else still believes
 * that he holds the lock. In all of them it looks at the token.
 */
final class TokenModel {

	/** By how much the nodes' clocks differ at most. */
	static final int SKEW = 40;

	static final int LEASE = 240;

	private static final int CLIENTS = 3;

	private static final int STEP = 4;

	private final Rules rules;

	private final Random random;

	private final int quorum;

	private final boolean leasesLast;

	private final List<ModelNode> nodes = new ArrayList<>();

	private final List<ModelClient> clients = new ArrayList<>();

	private final List<Runnable> late = new ArrayList<>();

	/** Who was given which token. */
	private final TreeMap<Long, Integer> given = new TreeMap<>();

	/** The greatest token that was given to one alone. */
	private long greatestAlone;

	private long now = 1_000;

	private int owners;

	private int alone;

	private int together;

	private @Nullable String violation;

	TokenModel(long seed, int nodes, Rules rules) {
		this.rules = rules;
		this.random = new Random(seed);
		this.quorum = nodes / 2 + 1;
		this.leasesLast = this.random.nextBoolean();
		for (int i = 0; i < nodes; i++) {
			this.nodes.add(new ModelNode(this, this.random.nextInt(SKEW)));
		}
		for (int i = 0; i < CLIENTS; i++) {
			this.clients.add(new ModelClient(this));
		}
	}

	/**
	 * Let the world go on.
	 * @return what is wrong with a token or a holder, or {@code null}
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
				this.nodes.get(this.random.nextInt(this.nodes.size())).suffer();
			}
		}
		return this.violation;
	}

	/** How often the lock was given to one alone. */
	int alone() {
		return this.alone;
	}

	/** How often a reader got it while another read. */
	int together() {
		return this.together;
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

	int newOwner() {
		return ++this.owners;
	}

	boolean chance(int oneIn) {
		return this.random.nextInt(oneIn) == 0;
	}

	int upTo(int bound) {
		return this.random.nextInt(bound);
	}

	/** A message is lost now and then. */
	boolean arrives() {
		return !chance(10);
	}

	/** Nobody waits for this message: it may come at any time. */
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

	/** The greatest token that any other has. */
	long greatestBut(int owner) {
		for (Map.Entry<Long, Integer> entry : this.given.descendingMap().entrySet()) {
			if (entry.getValue() != owner) {
				return entry.getKey();
			}
		}
		return 0;
	}

	void acquired(ModelClient who, long token, long mustExceed) {
		if (token <= mustExceed) {
			this.violation = "token %d after %d".formatted(token, mustExceed);
		}
		if (!who.shared()) {
			this.greatestAlone = Math.max(this.greatestAlone, token);
		}
		Integer other = this.given.put(token, who.owner());
		if (other != null && other != who.owner()) {
			this.violation = "token %d twice".formatted(token);
		}
		holds(who);
	}

	/**
	 * The same grant as before, with the same token. A part that a node has just
	 * confirmed may end before the next node does so, but not if leases last.
	 */
	void stillHeld(ModelClient who, long token) {
		long greatest = who.shared() ? this.greatestAlone : this.given.lastKey();
		if (this.leasesLast && greatest > token) {
			this.violation = "token %d given again after %d".formatted(token, greatest);
		}
		holds(who);
	}

	private void holds(ModelClient who) {
		List<ModelClient> others = this.clients.stream()
			.filter((client) -> client != who && client.believes())
			.toList();
		if (!who.shared()) {
			this.alone++;
		}
		else if (others.stream().anyMatch(ModelClient::shared)) {
			this.together++;
		}
		if (this.leasesLast && others.stream().anyMatch((other) -> !(who.shared() && other.shared()))) {
			this.violation = "held twice";
		}
	}

	/**
	 * What may be left out to see whether it matters.
	 *
	 * @param writeBack a token counts when a majority remembers it
	 * @param floor a node that restarted gives no token below those that it forgot
	 * @param refusesSmallerToken a node agrees to no less than it gave this owner
	 * @param refusesTokenOfAnother nor to what it may have given another reader
	 * @param newTokenWhereOthersFollowed a reader that asks again does not bring an old
	 * token into a new vote
	 * @param quarantine a node that restarted does not vote for as long as a lease lasts
	 * @param attempts what undoes an attempt leaves later ones alone
	 * @param readersKeepWritersOut a writer needs a majority without readers
	 * @param memoryEndsWithTheLease a client whose lease has ended knows of no token when
	 * it asks again
	 */
	record Rules(boolean writeBack, boolean floor, boolean refusesSmallerToken, boolean refusesTokenOfAnother,
			boolean newTokenWhereOthersFollowed, boolean quarantine, boolean attempts, boolean readersKeepWritersOut,
			boolean memoryEndsWithTheLease) {

		static final Rules ALL = new Rules(true, true, true, true, true, true, true, true, true);

		/** All rules but one. */
		static Rules without(int index) {
			boolean[] on = new boolean[9];
			for (int i = 0; i < on.length; i++) {
				on[i] = i != index;
			}
			return new Rules(on[0], on[1], on[2], on[3], on[4], on[5], on[6], on[7], on[8]);
		}

	}

}
