package io.holdfast.lock.engine;

import io.holdfast.lock.FencingToken;

/**
 * Defects of {@link StoreLease} and {@link LeaseState} that the simulation must detect.
 */
public final class HandoffMutants {

	private HandoffMutants() {
	}

	/** Gives all holders of one lease the same token. */
	public static FencingToken sameToken(StoreLease lease) {
		return lease.grant().fencingToken();
	}

	/** Ends a lease whether or not a hold uses it, but only once. */
	public static boolean endsAny(LeaseState lease) {
		return lease.endsHeld() || lease.becomesHeld() && lease.endsHeld();
	}

}
