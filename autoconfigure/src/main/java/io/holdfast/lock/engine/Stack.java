package io.holdfast.lock.engine;

/**
 * Makes sure that a thread that enters a lock deep within others will be able to leave
 * it. A body that calls itself without end fails at the end of the stack, and so would
 * the release right after it: the lock would stay for ever.
 */
final class Stack {

	/** Fewer locks within each other are no endless call. */
	private static final int DEEP = 16;

	/** More than a release needs, with a store and a log below it. */
	private static final int FRAMES = 500;

	private Stack() {
	}

	/**
	 * Fail before anything is held, rather than while it is let go.
	 * @param held how many holds the thread is within
	 * @throws StackOverflowError if what is left of the stack is too little
	 */
	static void requireRoom(int held) {
		if (held >= DEEP && room(FRAMES, 1, 2, 3, 4, 5, 6, 7) < 0) {
			throw new IllegalStateException("the frames were counted wrong");
		}
	}

	/** What it is given makes its frames large enough, compiled or not. */
	private static long room(int frames, long a, long b, long c, long d, long e, long f, long g) {
		return (frames == 0) ? a + b + c + d + e + f + g : room(frames - 1, b, c, d, e, f, g, a) + (a ^ frames) % 2;
	}

}
