package io.holdfast.lock.actuate;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.WaitingAcquisition;

/**
 * The responses of the endpoint. Actuator writes them in its own format, whatever the
 * application's settings for JSON are, and omits what is {@code null}. Tokens are text,
 * because clients that read numbers as 64-bit floating point would lose the last digits.
 */
public final class LockDescriptors {

	private LockDescriptors() {
	}

	/**
	 * The locks of this instance.
	 *
	 * @param total how many there are
	 * @param held the locks that are held, up to the limit
	 * @param waiting the acquisitions in progress, up to the limit
	 */
	public record Locks(Total total, List<Held> held, List<Waiting> waiting) implements OperationResponseBody {

		static Locks of(List<HeldLock> held, List<WaitingAcquisition> waiting, int limit) {
			return new Locks(new Total(held.size(), waiting.size()), held.stream().limit(limit).map(Held::of).toList(),
					waiting.stream().limit(limit).map(Waiting::of).toList());
		}

	}

	/**
	 * The number of locks and acquisitions, listed or not.
	 *
	 * @param held the number of locks that are held
	 * @param waiting the number of acquisitions in progress
	 */
	public record Total(int held, int waiting) {

	}

	/**
	 * One lock.
	 *
	 * @param lock the lock, such as {@code stock:42}
	 * @param backend the name of the backend, or {@code null} if there is none with the
	 * requested name
	 * @param total how many holds and acquisitions of this instance there are, or
	 * {@code null} if the request is not valid
	 * @param held the holds of this instance, up to the limit
	 * @param waiting the acquisitions of this instance, up to the limit
	 * @param store what the store knows, or {@code null} if it did not respond
	 * @param error why the request is not valid or the store did not respond, or
	 * {@code null} if it did
	 */
	public record Lock(String lock, @Nullable String backend, @Nullable Total total, List<Held> held,
			List<Waiting> waiting, @Nullable Store store, @Nullable String error) implements OperationResponseBody {

		static Lock of(LockName lock, String backend, Locks here, @Nullable Store store, @Nullable String error) {
			return new Lock(lock.id(), backend, here.total(), here.held(), here.waiting(), store, error);
		}

		boolean isUnused() {
			return new Total(0, 0).equals(this.total) && this.store != null && this.store.holders().isEmpty()
					&& (this.store.waiters() == null || this.store.waiters() == 0);
		}

	}

	/**
	 * The result of a forced release.
	 *
	 * @param lock the lock
	 * @param evicted the holders that lost the lock; empty if it failed
	 * @param holders the present holders if none of them is the expected one, or else
	 * {@code null}
	 * @param error why it failed, or {@code null} if it did not
	 */
	public record Release(String lock, List<Holder> evicted, @Nullable List<Holder> holders,
			@Nullable String error) implements OperationResponseBody {

	}

	/**
	 * A lock that this instance holds.
	 *
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param mode exclusive or shared
	 * @param fair whether it was requested in strict order
	 * @param token the token of the holder
	 * @param owner the owner id
	 * @param thread the name of the thread, or {@code null} if there is none
	 * @param heldFor the time since its acquisition
	 * @param remainingValidity how long the holder can rely on it
	 * @param inUse whether a holder uses it
	 * @param waiters the acquisitions of this instance that wait for it
	 */
	public record Held(String lock, String backend, LockMode mode, boolean fair, String token, String owner,
			@Nullable String thread, Duration heldFor, Duration remainingValidity, boolean inUse, int waiters) {

		static Held of(HeldLock held) {
			return new Held(held.lock().id(), held.backend(), held.mode(), held.fair(), held.token().toString(),
					held.ownerId(), held.thread(), millis(held.heldFor()), millis(held.remainingValidity()),
					held.inUse(), held.waiters());
		}

	}

	/**
	 * An acquisition of this instance.
	 *
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param mode exclusive or shared
	 * @param fair whether it was requested in strict order
	 * @param thread the name of the thread, or {@code null} if there is none
	 * @param waitedFor the time since its start
	 * @param remainingWait the time until it gives up
	 */
	public record Waiting(String lock, String backend, LockMode mode, boolean fair, @Nullable String thread,
			Duration waitedFor, Duration remainingWait) {

		static Waiting of(WaitingAcquisition waiting) {
			return new Waiting(waiting.lock().id(), waiting.backend(), waiting.mode(), waiting.fair(), waiting.thread(),
					millis(waiting.waitedFor()), millis(waiting.remainingWait()));
		}

	}

	/**
	 * The holders and waiters of a lock in its store.
	 *
	 * @param holders the holders in all instances
	 * @param waiters the claims in the wait queue of the store, or {@code null} if it has
	 * none
	 */
	public record Store(List<Holder> holders, @Nullable Integer waiters) {

	}

	/**
	 * A holder, as the store knows it.
	 *
	 * @param owner the owner id
	 * @param mode exclusive or shared
	 * @param token the token of the first hold with its lease
	 * @param remainingLease the time until the store ends the lease, or {@code null} if
	 * that is not known
	 * @param thisInstance whether it is in this instance
	 */
	public record Holder(String owner, LockMode mode, String token, @Nullable Duration remainingLease,
			boolean thisInstance) {

		static Holder of(LockState.Holder holder, Set<String> ownersHere) {
			Duration remaining = holder.remainingLease();
			return new Holder(holder.ownerId(), holder.mode(), holder.token().toString(),
					(remaining != null) ? millis(remaining) : null, ownersHere.contains(holder.ownerId()));
		}

	}

	private static Duration millis(Duration duration) {
		return duration.truncatedTo(ChronoUnit.MILLIS);
	}

}
