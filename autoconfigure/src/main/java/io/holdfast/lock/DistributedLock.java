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
 * Holds a distributed lock around a method. The lock is acquired before a transaction
 * begins and released only after it has committed or rolled back. If the lock is not
 * acquired, the method does not run.
 *
 * <p>
 * On a class, the annotation applies to every public instance method that does not
 * declare its own, except those annotated with {@link Unlocked}. The annotation is also
 * found on interface methods, on inherited methods and on custom annotations that carry
 * it. Custom annotations may override its attributes with {@link AliasFor}.
 *
 * <p>
 * A method that returns a {@code CompletableFuture} holds the lock until that future
 * completes. The caller receives a second future that completes afterwards. Canceling the
 * second future does not stop the work, so the lock is held until the work has completed.
 * Other results whose work continues after the method has returned are rejected, because
 * that work would run without the lock. Examples are a {@code Stream}, a
 * {@code Callable}, a {@code Mono} and the result of a Kotlin suspend function.
 *
 * <p>
 * Durations are strings: {@code 5s}, {@code 500ms}, {@code PT5S}, or a placeholder such
 * as {@code ${orders.lock.wait}}. An empty string selects the default that the attribute
 * describes.
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
	 * The fixed part of the lock's name, such as {@code stock}. It has few values and is
	 * safe as a meter tag. May contain placeholders. Required.
	 * @return the name
	 */
	@AliasFor("value")
	String name() default "";

	/**
	 * A SpEL expression for the evaluated part of the lock's name, such as
	 * {@code #productId}, {@code #p0}, {@code #order.id} or {@code @tenants.current()}.
	 * May contain placeholders. Empty: one lock for all calls.
	 *
	 * <p>
	 * A collection or an array means several locks, of which all or none are acquired. A
	 * {@code byte[]} or {@code char[]} is an error. A result that is null, blank or an
	 * empty {@code Optional} is an error, because unrelated callers would share a lock. A
	 * result whose class has no {@code toString()} of its own is an error, because every
	 * call would have its own lock.
	 *
	 * <p>
	 * An enum constant is represented by its name, a {@code java.util.Date} or
	 * {@code Calendar} by its instant. A {@code Set} or {@code Map} within a key must be
	 * sorted, even within a record. Otherwise its order may differ between JVMs, so each
	 * would have its own lock.
	 * @return the expression
	 */
	String key() default "";

	/**
	 * SpEL expressions for the parts of one compound key, such as {@code { "#tenant",
	 * "#productId" }}, used instead of {@link #key()}. Different parts always produce
	 * different keys: {@code ("a,b", "c")} is not {@code ("a", "b,c")}.
	 * @return the expressions
	 */
	String[] keys() default {};

	/**
	 * Whether the lock is held exclusively or shared with other readers.
	 * @return the mode
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * The longest time to wait for the lock. {@code 0s} makes one attempt. If the store
	 * does not respond, the first attempt takes {@code distributed-lock.response-timeout}
	 * even if the wait is shorter. Empty: {@code distributed-lock.wait-time}, or no wait
	 * with {@link WhenNotAcquired#SKIP}.
	 * @return the duration
	 */
	String waitTime() default "";

	/**
	 * The time for which the store keeps the lock without renewal. Empty:
	 * {@code distributed-lock.lease-time}. Has no effect if the thread already holds the
	 * lock: the lease of the outer hold remains unchanged.
	 * @return the duration
	 */
	String leaseTime() default "";

	/**
	 * Whether the lease is renewed at one third of its duration while the method runs.
	 * Has no effect if the thread already holds the lock: the setting of the outer hold
	 * applies.
	 * @return whether the lease is renewed
	 */
	boolean renew() default true;

	/**
	 * The time after which renewal stops, so that a method that hangs does not hold the
	 * lock forever. The lease then expires and the lock is lost. A future that the method
	 * has returned still completes only with its own work. Must be at least the lease,
	 * which is {@code leaseTime} or the property {@code distributed-lock.lease-time}, and
	 * {@code minHold}. Empty: renewal does not stop.
	 * @return the duration
	 */
	String maxHold() default "";

	/**
	 * The shortest time for which the lock stays closed, counted from its acquisition,
	 * even if the method completes earlier. With {@code renew = false}, it must be at
	 * most the lease, which is {@code leaseTime} or the property
	 * {@code distributed-lock.lease-time}. Empty: the lock is released when the method
	 * completes.
	 *
	 * <p>
	 * If the thread already holds the lock, the time counts from this call, and the
	 * longest {@code minHold} of the nested holds applies. If the application stops
	 * earlier, the store keeps the lock for the remaining time; ZooKeeper and advisory
	 * locks of PostgreSQL cannot do this. If the outer hold is not renewed, or lost, the
	 * time may end with its lease.
	 * @return the duration
	 */
	String minHold() default "";

	/**
	 * The reaction if the lock is not acquired in time.
	 * @return the reaction
	 */
	WhenNotAcquired whenNotAcquired() default WhenNotAcquired.THROW;

	/**
	 * The name of the method to call instead if the lock is not acquired in time. The
	 * method is declared in the same class. It has the same parameters, optionally
	 * followed by a {@link LockNotAcquiredException}, and a compatible return type. Its
	 * own annotations apply, such as {@code @Transactional}, unless it is private or
	 * final, or missing in the interface that the bean's proxy implements. Empty: no
	 * fallback.
	 * @return the name of the method
	 */
	String fallback() default "";

	/**
	 * Whether the fencing token must guard the transaction of this method. The
	 * application does not start if nothing can check the token, or if the transaction
	 * belongs to a data source other than the fenced one. A call without a transaction is
	 * rejected. So is a method that returns a future, unless {@code @Async} runs it and
	 * the future is complete when the method returns.
	 * @return whether the transaction must be fenced
	 */
	boolean fenced() default false;

	/**
	 * Whether claims are granted strictly in order of arrival, also those of other
	 * instances. Applies among callers that all request it. Each of them sends requests
	 * to the store while it waits. The application does not start if the store does not
	 * support this.
	 * @return whether the order is strict
	 */
	boolean fair() default false;

	/**
	 * The name of the backend, such as {@code redis}. Empty: the application's default
	 * backend.
	 * @return the name of the backend
	 */
	String backend() default "";

}
