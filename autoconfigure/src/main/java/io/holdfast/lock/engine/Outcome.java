package io.holdfast.lock.engine;

import java.util.function.Function;
import java.util.function.Supplier;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockNotAcquiredException;

/**
 * Outcome of an acquisition. Exceptions are created for the caller that gets them: a
 * refusal is a normal outcome, and an acquisition that failed at the end of the stack
 * must end without a message first.
 *
 * @param <T> the type of what is granted
 */
sealed interface Outcome<T> {

	/** Returns what was granted, or throws the exception that explains its absence. */
	T orElseThrow();

	/** Applies a function to what was granted. */
	<R> Outcome<R> map(Function<? super T, ? extends R> function);

	/**
	 * The lock was granted.
	 *
	 * @param <T> the type of what is granted
	 * @param value what was granted
	 */
	record Granted<T>(T value) implements Outcome<T> {

		@Override
		public T orElseThrow() {
			return this.value;
		}

		@Override
		public <R> Outcome<R> map(Function<? super T, ? extends R> function) {
			return new Granted<>(function.apply(this.value));
		}

	}

	/**
	 * Another holder kept the lock for as long as the caller waited.
	 *
	 * @param <T> the type of what is granted
	 * @param exception creates the exception for the caller
	 */
	record Refused<T>(Supplier<LockNotAcquiredException> exception) implements Outcome<T> {

		@Override
		public T orElseThrow() {
			throw this.exception.get();
		}

		@Override
		public <R> Outcome<R> map(Function<? super T, ? extends R> function) {
			return new Refused<>(this.exception);
		}

	}

	/**
	 * The acquisition failed or was cancelled.
	 *
	 * @param <T> the type of what is granted
	 * @param exception creates the exception for the caller
	 */
	record Failed<T>(Supplier<? extends LockException> exception) implements Outcome<T> {

		@Override
		public T orElseThrow() {
			throw this.exception.get();
		}

		@Override
		public <R> Outcome<R> map(Function<? super T, ? extends R> function) {
			return new Failed<>(this.exception);
		}

	}

}
