package io.holdfast.verification.benchmark;

/**
 * What the threads of a round do.
 */
enum Workload {

	/** One thread, no contention. */
	A("a", "one thread", 1, 1, false, 0),

	/** Sixteen threads, each with its own lock. */
	B("b", "16 threads, own locks", 16, 1, false, 0),

	/** Eight threads, one lock, nothing to do under it. */
	C0("c0", "8 threads, one lock", 8, 1, true, 0),

	/** Eight threads, one lock, a millisecond of work under it. */
	C1("c1", "8 threads, one lock, 1 ms", 8, 1, true, 1),

	/** Two processes of eight threads, one lock, nothing to do under it. */
	D0("d0", "2 × 8 threads, one lock", 8, 2, true, 0),

	/** Two processes of eight threads, one lock, a millisecond of work under it. */
	D1("d1", "2 × 8 threads, one lock, 1 ms", 8, 2, true, 1),

	/** The time from a release in one process to the return of a waiter in another. */
	F("f", "from process to process", 1, 2, true, 0);

	final String text;

	final String meaning;

	final int processes;

	final Work work;

	Workload(String text, String meaning, int threads, int processes, boolean sameKey, int sectionMillis) {
		this.text = text;
		this.meaning = meaning;
		this.processes = processes;
		this.work = new Work(text, threads, sameKey ? 1 : threads, sectionMillis);
	}

	/** Whether the workload applies to a store: locks in memory have one process. */
	boolean appliesTo(String store) {
		return this.processes == 1 || !(store.equals("local") || store.equals("h2"));
	}

}
