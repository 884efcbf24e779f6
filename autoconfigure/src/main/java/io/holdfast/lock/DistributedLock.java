package io.holdfast.lock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Holds a distributed lock around a method: acquired before a transaction begins, let go
 * only after it has committed or rolled back. If the lock is not acquired, the method
 * does not run.
 *
 * <p>
 * On a class it stands for every public instance method that does not have its own, but
 * not for those that are {@link Unlocked}. It is found on interface methods, on inherited
 * methods and on annotations of yours that carry it, whose attributes may override these
 * with {@link AliasFor}.
 *
 * <p>
 * A method that returns a {@code CompletableFuture} holds the lock until that completes.
 * The caller gets a future that completes after it. Cancelling this one does not end the
 * work, so the lock is held until the work has completed. Other results whose work is
 * done after the method has returned, such as a {@code Stream}, a {@code Callable}, a
 * {@code Mono} or that of a Kotlin suspend function, are refused: it would be done
 * without the lock.
 *
 * <p>
 * Durations are texts: {@code 5s}, {@code 500ms}, {@code PT5S}, or a placeholder such as
 * {@code ${orders.lock.wait}}; an empty one takes the value of the application's
 * properties.
 *
 * <pre>
 * &#64;DistributedLock(name = "stock", key = "#productId")
 * &#64;Transactional
 * public void order(long productId, int quantity) { ... }
 * </pre>
 *
 * @see LockOperations
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
public @interface DistributedLock {

	/**
	 * Alias for {@link #name()}.
	 * @return the name
	 */
	@AliasFor("name")
	String value() default "";

	/**
	 * The fixed part of the lock's name, such as {@code stock}: few values, safe as the
	 * tag of a meter. May hold placeholders. Required.
	 * @return the name
	 */
	@AliasFor("value")
	String name() default "";

	/**
	 * A SpEL expression for the evaluated part of the lock's name, such as
	 * {@code #productId}, {@code #p0}, {@code #order.id} or {@code @tenants.current()}.
	 * May hold placeholders. Empty: one lock for all calls. A collection or an array
	 * means several locks, all or none. A result that is null, blank or an empty
	 * {@code Optional} is an error, because unrelated callers would share a lock; so is
	 * one whose class has no {@code toString()} of its own, because every call would have
	 * its own lock. An enum constant is its name, a {@code java.util.Date} or
	 * {@code Calendar} its instant. A {@code Set} or {@code Map} within a key has to be
	 * sorted, also within a record: the order of others may differ between JVMs, so each
	 * would have its own lock.
	 * @return the expression
	 */
	String key() default "";

	/**
	 * SpEL expressions for the parts of one key, such as {@code { "#tenant", "#productId"
	 * }}, instead of {@link #key()}. Keys of different parts differ: {@code ("a,b", "c")}
	 * is not {@code ("a", "b,c")}.
	 * @return the expressions
	 */
	String[] keys() default {};

	/**
	 * Alone, or together with other readers.
	 * @return the mode
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * The longest wait to acquire. {@code 0s} makes one attempt. Empty:
	 * {@code distributed-lock.wait-time}, or no wait with {@link WhenNotAcquired#SKIP}.
	 * @return the duration
	 */
	String waitTime() default "";

	/**
	 * How long the store keeps the lock without renewal. Empty:
	 * {@code distributed-lock.lease-time}. Without effect where the thread holds the lock
	 * already: the lease of the outer hold stays as it is.
	 * @return the duration
	 */
	String leaseTime() default "";

	/**
	 * Whether the lease is renewed, at a third of its time, while the method runs.
	 * Without effect where the thread holds the lock already: the outer hold decides.
	 * @return whether it is renewed
	 */
	boolean renew() default true;

	/**
	 * When renewal stops, so that a method that hangs does not hold the lock forever; the
	 * lease then runs out, and the lock is lost. A future that the method has returned
	 * still completes only with its own work. At least the {@code leaseTime} and the
	 * {@code minHold}, if there are such. Empty: never.
	 * @return the duration
	 */
	String maxHold() default "";

	/**
	 * How long the lock stays closed at least, counted from its acquisition, even if the
	 * method ends sooner. Empty: it is released when the method ends. Where the thread
	 * holds the lock already, the time counts from this call, and the longest
	 * {@code minHold} of the nested holds is kept. When the application stops earlier,
	 * the store keeps the lock for the rest of the time; ZooKeeper cannot. With
	 * {@code renew = false} it ends with the lease at the latest.
	 * @return the duration
	 */
	String minHold() default "";

	/**
	 * What to do when the lock was not acquired in time.
	 * @return the reaction
	 */
	WhenNotAcquired whenNotAcquired() default WhenNotAcquired.THROW;

	/**
	 * The method of the same class that is called instead when the lock was not acquired
	 * in time. It has the same parameters, optionally followed by a
	 * {@link LockNotAcquiredException}, and a return type that fits. Empty: none.
	 * @return the method's name
	 */
	String fallback() default "";

	/**
	 * Whether the transaction of this method must be guarded by the fencing token. Stops
	 * the start where nothing can check the token, or where that transaction is one of
	 * another data source than the fenced one. Without a transaction the call is refused.
	 * @return whether it must be fenced
	 */
	boolean fenced() default false;

	/**
	 * Whether claims are granted strictly in the order of their arrival. A store that
	 * cannot do this stops the start.
	 * @return whether the order is strict
	 */
	boolean fair() default false;

	/**
	 * The store, such as {@code redis}. Empty: the application's default store.
	 * @return the store
	 */
	String backend() default "";

}
