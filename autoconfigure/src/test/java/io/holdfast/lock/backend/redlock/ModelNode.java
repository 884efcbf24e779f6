package io.holdfast.lock.backend.redlock;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * One node of a {@link TokenModel}, which acts as the scripts do.
 */
final class ModelNode {

	private final TokenModel world;

	private final int skew;

	private final Map<Integer, Part> parts = new HashMap<>();

	/** The latest attempts of the claims that wait, by their owners. */
	private final Map<Integer, Integer> waiting = new TreeMap<>();

	private long counter = -1;

	private long highest;

	private long floor;

	private boolean votes = true;

	private long restartedAt;

	ModelNode(TokenModel world, int skew) {
		this.world = world;
		this.skew = skew;
	}

	private long clock() {
		return this.world.now() + this.skew;
	}

	void injectFault() {
		if (this.world.chance(25)) {
			this.parts.clear();
			if (this.world.chance(2)) {
				// otherwise the wait queue comes from a disk
				this.waiting.clear();
			}
			this.counter = -1;
			this.highest = 0;
			this.floor = 0;
			this.votes = false;
			this.restartedAt = this.world.now();
		}
		else if (!this.votes && this.world.now() - this.restartedAt > quarantine()) {
			this.votes = true;
			this.floor = this.world.rules().floor() ? clock() : 0;
		}
		else if (!this.world.leasesLast() && this.world.chance(2)) {
			this.parts.keySet().removeIf((owner) -> this.world.chance(2));
		}
	}

	private long quarantine() {
		return (this.world.leasesLast() && this.world.rules().quarantine()) ? TokenModel.LEASE : TokenModel.SKEW;
	}

	private void removeExpired() {
		this.parts.values().removeIf((part) -> part.ends() <= this.world.now());
	}

	/** Acquires a part as {@code acquire.lua} does. */
	@Nullable Vote acquire(int owner, boolean shared, int attempt) {
		if (!this.votes) {
			return null;
		}
		removeExpired();
		Part mine = this.parts.get(owner);
		if (mine != null) {
			boolean followed = mine.token() != this.counter;
			long token = (shared && followed && this.world.rules().newTokenWhereOthersFollowed()) ? nextToken()
					: mine.token();
			this.parts.put(owner, part(shared, Math.max(mine.attempt(), attempt), token));
			return new Vote(token, true, 0);
		}
		if (this.parts.values().stream().anyMatch((part) -> conflicts(part, shared))) {
			if (!shared && this.world.keepsLocks()) {
				this.waiting.merge(owner, attempt, Math::max);
			}
			return new Vote(this.counter, false, clock());
		}
		this.waiting.remove(owner);
		long token = nextToken();
		this.parts.put(owner, part(shared, attempt, token));
		return new Vote(token, false, 0);
	}

	private boolean conflicts(Part other, boolean shared) {
		return !other.shared() || (!shared && this.world.rules().readersKeepWritersOut());
	}

	private Part part(boolean shared, int attempt, long token) {
		return new Part(shared, attempt, token, this.world.now() + TokenModel.LEASE);
	}

	private long nextToken() {
		if (this.counter >= 0) {
			this.counter++;
		}
		else {
			this.counter = this.world.rules().floor() ? Math.max(clock(), this.highest + 1) : 1;
		}
		this.counter = Math.max(this.counter, this.floor);
		this.highest = Math.max(this.highest, this.counter);
		return this.counter;
	}

	/**
	 * Agrees on a token as {@code agree.lua} does.
	 * @return zero if the node agrees, -1 if it does not vote or the owner does not hold
	 * the lock here, otherwise the token that was granted meanwhile
	 */
	long agree(int owner, long token) {
		removeExpired();
		Part mine = this.parts.get(owner);
		if (!this.votes || mine == null) {
			return -1;
		}
		long greatest = this.world.rules().refusesTokenOfAnother() ? Math.max(mine.token(), this.counter)
				: mine.token();
		boolean tooSmall = token < greatest || (token == greatest && mine.token() != token);
		if (tooSmall && this.world.rules().refusesSmallerToken()) {
			return greatest;
		}
		this.counter = token;
		this.highest = Math.max(this.highest, token);
		this.parts.put(owner, new Part(mine.shared(), mine.attempt(), token, mine.ends()));
		return 0;
	}

	/** Renews a part as {@code renew.lua} does. */
	boolean renew(int owner) {
		removeExpired();
		Part mine = this.parts.get(owner);
		if (!this.votes || mine == null) {
			return false;
		}
		// no attempt is undone any more
		this.parts.put(owner, part(mine.shared(), Integer.MAX_VALUE, mine.token()));
		return true;
	}

	/** Releases a part as {@code release.lua} does. */
	void release(int owner, int last) {
		Part mine = this.parts.get(owner);
		if (mine != null && (last < 0 || mine.attempt() <= last || !this.world.rules().attempts())) {
			this.parts.remove(owner);
		}
		if (last < 0) {
			this.waiting.remove(owner);
		}
		keepForAWaiter();
	}

	/** Grants the free lock to a waiter, and notifies it, as {@code notify.lua} does. */
	private void keepForAWaiter() {
		removeExpired();
		if (!this.votes || !this.parts.isEmpty() || this.waiting.isEmpty()) {
			return;
		}
		List<Integer> owners = List.copyOf(this.waiting.keySet());
		// mostly the same waiter on all nodes, and rather one that has not ended
		// unnoticed
		int owner = owners.get(this.world.chance(4) ? this.world.upTo(owners.size()) : 0);
		int attempt = this.waiting.remove(owner);
		Notice notice = new Notice(nextToken(), clock());
		this.parts.put(owner, new Part(false, attempt + 1, notice.token(), this.world.now() + TokenModel.KEPT));
		this.world.send(() -> this.world.notify(owner, this, notice));
	}

	/**
	 * The part of a lock that a node has granted.
	 */
	private record Part(boolean shared, int attempt, long token, long ends) {
	}

	/**
	 * The vote of a node.
	 *
	 * @param token the token of the node, or its latest one if it rejects the claim
	 * @param before whether the owner held the part before
	 * @param rejectedAt when the node has rejected the claim, on its clock, or zero
	 */
	record Vote(long token, boolean before, long rejectedAt) {
	}

	/**
	 * The notice of a node that keeps the lock for a waiter.
	 *
	 * @param token the token that it has granted
	 * @param since since when, on its clock
	 */
	record Notice(long token, long since) {
	}

}
