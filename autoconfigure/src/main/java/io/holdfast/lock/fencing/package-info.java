/**
 * Fences: a resource records the greatest token that it has seen and rejects stale
 * holders. Database transactions pass their fence automatically; a {@code FencingGuard}
 * protects other resources.
 *
 * <p>
 * This package imports {@code io.holdfast.lock} and its packages {@code spi} and
 * {@code support}. Spring's JDBC and transactions are optional. So are Redisson and
 * Spring Data Redis, each of which one guard requires. The statements that advance a
 * token are resources in this package; {@code FenceSql} selects the one of the database
 * and contains those that are the same everywhere.
 *
 * <p>
 * Applications may use {@code FencingGuard} and its implementations. The other types are
 * internal: they are public for the auto-configuration and the interceptors, and may
 * change in any release.
 */
@NullMarked
package io.holdfast.lock.fencing;

import org.jspecify.annotations.NullMarked;
