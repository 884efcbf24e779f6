package io.holdfast.lock.backend.etcd;

import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its line.
 *
 * @param revision the revision that created the claim's key, which is its token
 * @param before the key just before it that it must not overtake, or {@code null} if it
 * is first
 * @param seenAt the revision of etcd at which that was so
 */
record QueuePosition(long revision, @Nullable String before, long seenAt) {

}
