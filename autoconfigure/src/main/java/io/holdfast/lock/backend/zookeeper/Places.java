package io.holdfast.lock.backend.zookeeper;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;

/**
 * The places of all claims and grants of this JVM. A place is kept until nothing of it is
 * left in the store.
 */
final class Places {

	private static final Pattern NOT_IN_A_PATH = Pattern.compile("[^A-Za-z0-9_-]");

	private final Map<OwnerId, Place> byOwner = new ConcurrentHashMap<>();

	private final String namespace;

	private final String root;

	Places(String basePath, String namespace) {
		this.namespace = namespace;
		this.root = basePath + "/" + NOT_IN_A_PATH.matcher(namespace).replaceAll("_");
	}

	/** The node below which all lines are. */
	String root() {
		return this.root;
	}

	/**
	 * The place of a claim, new if there is none.
	 * @param interruptions how many there have been
	 */
	Place of(Claim claim, int interruptions) {
		return this.byOwner.computeIfAbsent(claim.owner(),
				(owner) -> new Place(claim, line(claim.lock()), interruptions));
	}

	/** The place whose node was granted so, or {@code null} if that is gone. */
	@Nullable Place of(Grant grant) {
		Place place = this.byOwner.get(grant.claim().owner());
		return (place != null && place.czxid() == grant.storeToken()) ? place : null;
	}

	/** Nothing of the place is left in the store. */
	void end(Place place) {
		place.end();
		this.byOwner.remove(place.claim.owner(), place);
	}

	/**
	 * Deletes what a place has made. It is remembered until that is certain, so that it
	 * is not taken again.
	 */
	CompletableFuture<Void> abandon(Place place, Supplier<CompletableFuture<Void>> delete) {
		return place.abandon(delete).thenRun(() -> this.byOwner.remove(place.claim.owner(), place));
	}

	/**
	 * With the session all its nodes are gone, or will be before anybody can rely on
	 * them.
	 */
	void sessionLost(long currentSession) {
		this.byOwner.values().removeIf((place) -> place.sessionLost(currentSession));
	}

	int size() {
		return this.byOwner.size();
	}

	private String line(LockName lock) {
		return this.root + "/" + NOT_IN_A_PATH.matcher(lock.name()).replaceAll("_") + "-"
				+ LockDigest.of(this.namespace, lock);
	}

}
