package io.holdfast.verification.benchmark;

/**
 * What the threads of a process do in a round: acquire and release locks until it ends.
 *
 * @param name the beginning of the keys
 * @param threads the number of threads, a power of two
 * @param locks the number of locks: one, for which all threads compete, or a multiple of
 * the threads, each of which then uses its own share of them in turn
 * @param sectionMillis how long each section waits under the lock
 */
record Work(String name, int threads, int locks, int sectionMillis) {

	static Work parse(String[] words) {
		return new Work(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
	}

	String toWords() {
		return "%s %d %d %d".formatted(this.name, this.threads, this.locks, this.sectionMillis);
	}

	/** Returns which lock a thread uses in one of its turns. */
	int lock(int thread, int turn) {
		return (int) ((thread + (long) turn * this.threads) % this.locks);
	}

	String key(int lock) {
		return this.name + "-" + lock;
	}

}
