package io.holdfast.lock.engine;

import io.holdfast.lock.FencingToken;

/**
 * Defects of {@link StoreLease} that the simulation must detect.
 */
public final class HandoffMutants {

	private HandoffMutants() {
	}

	/** Gives all holders of one lease the same token. */
	public static FencingToken sameToken(StoreLease lease) {
		return lease.grant().fencingToken();
	}

}
