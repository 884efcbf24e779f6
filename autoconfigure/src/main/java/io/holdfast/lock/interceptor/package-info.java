/**
 * From the annotation to the lock: finds {@code @DistributedLock}, turns it into a
 * request, and puts the lock in its place in the proxy, outside of the transaction.
 *
 * <p>
 * Imports {@code io.holdfast.lock} and the engine's entry. To change what an annotation
 * means, come to {@code LockMethodSpecs}; to change where the lock stands, to
 * {@code DistributedLockBeanPostProcessor}.
 */
@NullMarked
package io.holdfast.lock.interceptor;

import org.jspecify.annotations.NullMarked;
