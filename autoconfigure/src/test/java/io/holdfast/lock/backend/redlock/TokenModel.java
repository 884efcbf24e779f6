package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * A world of nodes and clients that fight for one lock, one random step after another:
 * requests and replies get lost or come late, locks end at any moment (so exclusion is
 * not looked at), nodes restart without memory and their clocks differ. After every
 * acquisition it looks at the token.
 */
final class TokenModel {

	/** By how much the nodes' clocks differ at most; the quarantine is longer. */
	private static final int SKEW = 40;

	private static final int CLIENTS = 3;

	private final Rules rules;

	private final Random random;

	private final int quorum;

	private final List<ModelNode> nodes = new ArrayList<>();

	private final List<Client> clients = new ArrayList<>();

	private final Set<Long> given = new HashSet<>();

	private long greatest;

	private long now = 1_000;

	private int owners;

	private int acquisitions;

	private @Nullable String violation;

	TokenModel(long seed, int nodes, Rules rules) {
		this.rules = rules;
		this.random = new Random(seed);
		this.quorum = nodes / 2 + 1;
		for (int i = 0; i < nodes; i++) {
			this.nodes.add(new ModelNode(this.random.nextInt(SKEW)));
		}
		for (int i = 0; i < CLIENTS; i++) {
			this.clients.add(new Client());
		}
	}

	/**
	 * Let the world go on.
	 * @return what is wrong with a token, or {@code null}
	 */
	@Nullable String run(int steps) {
		for (int i = 0; i < steps && this.violation == null; i++) {
			this.now += 4;
			if (this.random.nextInt(4) == 0) {
				this.nodes.get(this.random.nextInt(this.nodes.size())).suffer();
			}
			else {
				this.clients.get(this.random.nextInt(CLIENTS)).step();
			}
		}
		return this.violation;
	}

	int acquisitions() {
		return this.acquisitions;
	}

	private void acquired(long token, long mustExceed) {
		this.acquisitions++;
		if (token <= mustExceed) {
			this.violation = "token %d after %d".formatted(token, mustExceed);
		}
		if (!this.given.add(token)) {
			this.violation = "token %d twice".formatted(token);
		}
		this.greatest = Math.max(this.greatest, token);
	}

	/**
	 * What may be left out to see whether it matters.
	 */
	record Rules(boolean writeBack, boolean floor, boolean refusesSmallerToken) {

		static final Rules ALL = new Rules(true, true, true);

	}

	private final class ModelNode {

		private final int skew;

		private long counter = -1;

		private long highest;

		private long floor;

		private int holder;

		private boolean votes = true;

		private long restartedAt;

		ModelNode(int skew) {
			this.skew = skew;
		}

		private long clock() {
			return TokenModel.this.now + this.skew;
		}

		void suffer() {
			int what = TokenModel.this.random.nextInt(20);
			if (what == 0) {
				this.counter = -1;
				this.highest = 0;
				this.floor = 0;
				this.holder = 0;
				this.votes = false;
				this.restartedAt = TokenModel.this.now;
			}
			else if (!this.votes && TokenModel.this.now - this.restartedAt > SKEW) {
				this.votes = true;
				this.floor = TokenModel.this.rules.floor() ? clock() : 0;
			}
			else if (what < 10) {
				this.holder = 0;
			}
		}

		/** As acquire.lua: the token, or -1. */
		long acquire(int owner) {
			if (!this.votes || this.holder != 0) {
				return -1;
			}
			if (this.counter >= 0) {
				this.counter++;
			}
			else {
				this.counter = TokenModel.this.rules.floor() ? Math.max(clock(), this.highest + 1) : 1;
			}
			this.counter = Math.max(this.counter, this.floor);
			this.highest = Math.max(this.highest, this.counter);
			this.holder = owner;
			return this.counter;
		}

		/** As agree.lua. */
		boolean agree(int owner, long token) {
			if (!this.votes || this.holder != owner) {
				return false;
			}
			if (this.counter > token) {
				return !TokenModel.this.rules.refusesSmallerToken();
			}
			this.counter = token;
			this.highest = Math.max(this.highest, token);
			return true;
		}

		void release(int owner) {
			if (this.holder == owner) {
				this.holder = 0;
			}
		}

	}

	private final class Client {

		private final Map<ModelNode, Long> grants = new HashMap<>();

		private final Set<ModelNode> agreed = new HashSet<>();

		private List<ModelNode> toAsk = List.of();

		private int owner;

		private long mustExceed;

		private long token = -1;

		private boolean busy;

		void step() {
			if (!this.busy) {
				begin();
			}
			else if (this.token < 0) {
				ask();
			}
			else {
				agree();
			}
		}

		private void begin() {
			this.busy = true;
			this.owner = ++TokenModel.this.owners;
			this.mustExceed = TokenModel.this.greatest;
			this.token = -1;
			this.grants.clear();
			this.agreed.clear();
			this.toAsk = shuffled();
		}

		private List<ModelNode> shuffled() {
			List<ModelNode> all = new ArrayList<>(TokenModel.this.nodes);
			Collections.shuffle(all, TokenModel.this.random);
			return all;
		}

		private boolean arrives() {
			return TokenModel.this.random.nextInt(10) > 0;
		}

		private void ask() {
			if (this.grants.size() >= TokenModel.this.quorum) {
				vote();
			}
			else if (this.toAsk.isEmpty()) {
				end();
			}
			else {
				ModelNode node = this.toAsk.remove(0);
				long granted = arrives() ? node.acquire(this.owner) : -1;
				if (granted >= 0 && arrives()) {
					this.grants.put(node, granted);
				}
			}
		}

		private void vote() {
			TokenVote vote = TokenVote.of(this.grants.values(), TokenModel.this.quorum);
			if (vote.agreed()) {
				held(vote.token());
			}
			else if (!TokenModel.this.rules.writeBack()) {
				held(vote.token() - 1);
			}
			else {
				// those not asked yet may still grant, unseen by the vote
				this.toAsk.forEach((node) -> {
					if (arrives()) {
						node.acquire(this.owner);
					}
				});
				this.token = vote.token();
				this.toAsk = shuffled();
			}
		}

		private void agree() {
			if (this.agreed.size() >= TokenModel.this.quorum) {
				held(this.token);
			}
			else if (this.toAsk.isEmpty()) {
				end();
			}
			else {
				ModelNode node = this.toAsk.remove(0);
				if (arrives() && node.agree(this.owner, this.token) && arrives()) {
					this.agreed.add(node);
				}
			}
		}

		private void held(long granted) {
			acquired(granted, this.mustExceed);
			end();
		}

		private void end() {
			for (ModelNode node : TokenModel.this.nodes) {
				if (arrives()) {
					node.release(this.owner);
				}
			}
			this.busy = false;
		}

	}

}
