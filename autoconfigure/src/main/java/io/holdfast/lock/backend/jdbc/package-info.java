/**
 * Locks as rows of a database: one row a lock, judged by the database's clock.
 *
 * <p>
 * Imports {@code io.holdfast.lock} and {@code io.holdfast.lock.spi}. The statements are
 * resources beside this package; what differs between databases is in
 * {@code JdbcDialect}.
 */
@NullMarked
package io.holdfast.lock.backend.jdbc;

import org.jspecify.annotations.NullMarked;
