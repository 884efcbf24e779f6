/**
 * Finds {@code @DistributedLock}, converts it to a request, and adds the lock to the
 * proxy, outside the transaction.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, its packages {@code support},
 * {@code transaction} and {@code fencing}, and the public types of its package
 * {@code engine}. {@code LockMethodSpecs} determines the meaning of an annotation, and
 * {@code DistributedLockBeanPostProcessor} the position of the lock.
 *
 * <p>
 * This package is internal: its types may change in any release.
 */
@NullMarked
package io.holdfast.lock.interceptor;

import org.jspecify.annotations.NullMarked;
