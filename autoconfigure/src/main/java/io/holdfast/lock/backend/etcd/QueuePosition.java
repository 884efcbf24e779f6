package io.holdfast.lock.backend.etcd;

import org.jspecify.annotations.Nullable;

/**
 * The position of a claim in its wait queue.
 *
 * @param revision the revision that created the claim's key, which is its token
 * @param before the newest earlier key that the claim must not overtake, or {@code null}
 * if there is none
 * @param seenAt the revision of etcd at which this position was read
 * @param wanted whether other claims wait behind this one; only read if its lease is
 * sticky
 */
record QueuePosition(long revision, @Nullable String before, long seenAt, boolean wanted) {

}
