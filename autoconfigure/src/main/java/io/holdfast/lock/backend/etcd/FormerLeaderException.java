package io.holdfast.lock.backend.etcd;

/** Thrown when the leader that has renewed a lease may no longer be the leader. */
final class FormerLeaderException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	FormerLeaderException() {
		super("etcd has elected another leader than the one that renewed the lease");
	}

}
