package io.holdfast.lock.backend.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.spi.OwnerId;

/**
 * The sticky leases of this JVM that other instances may demand. The message of a demand
 * is {@code wanted:} and the owner id of the lease.
 *
 * <p>
 * Thread-safe.
 */
public final class LeaseDemands {

	/** Starts the message; an owner id has no colon. */
	private static final String WANTED = "wanted:";

	private final Map<String, CompletableFuture<Void>> signals = new ConcurrentHashMap<>();

	/**
	 * Returns a signal for the demand of a lease. It must exist before the claim is sent,
	 * because the demand may overtake the response. All attempts of a claim share it.
	 * @param owner the owner of the lease
	 * @return the signal
	 */
	public CompletionStage<Void> expect(OwnerId owner) {
		return this.signals.computeIfAbsent(owner.value(), (key) -> new CompletableFuture<>());
	}

	/**
	 * Receives a message, which may be a demand.
	 * @param message the message
	 * @return whether it is a demand
	 */
	public boolean receive(String message) {
		boolean wanted = message.startsWith(WANTED);
		if (wanted) {
			demand(message.substring(WANTED.length()));
		}
		return wanted;
	}

	/**
	 * Signals that another claim waits for a sticky lease, or asks for it.
	 * @param owner the owner id of the lease
	 */
	public void demand(String owner) {
		CompletableFuture<Void> signal = this.signals.get(owner);
		if (signal != null) {
			signal.complete(null);
		}
	}

	/**
	 * Forgets a lease that has ended.
	 * @param owner the owner of the lease
	 */
	public void forget(OwnerId owner) {
		this.signals.remove(owner.value());
	}

	/**
	 * Returns the number of leases that may be demanded.
	 * @return the number
	 */
	public int size() {
		return this.signals.size();
	}

}
