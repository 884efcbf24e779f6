package io.holdfast.lock.interceptor;

import io.holdfast.lock.DistributedLock;

/**
 * An interface and its implementations, whose method answers with the lock that it runs
 * under.
 */
final class PlainBeans {

	private PlainBeans() {
	}

	interface Plain {

		String run();

	}

	interface Locked extends Plain {

		@Override
		@DistributedLock("interface")
		String run();

	}

	static class LockedPlain implements Plain {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.held();
		}

	}

	static class LockedDifferently implements Locked {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.held();
		}

	}

}
