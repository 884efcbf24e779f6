/**
 * Backend for databases: one row per lock, with leases that expire by the database's
 * clock. On PostgreSQL, there can be an advisory lock in its place, whose lease the
 * server keeps with the session.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, {@code io.holdfast.lock.spi} and
 * {@code io.holdfast.lock.support}. The statements on locks are resources in this
 * package. {@code JdbcDialect} contains the expressions in which databases differ, and
 * {@code BorrowedConnection} listens for notifications of PostgreSQL.
 *
 * <p>
 * Applications may use {@code JdbcLockBackend} and {@code AdvisoryLockBackend} with their
 * options.
 */
@NullMarked
package io.holdfast.lock.backend.jdbc;

import org.jspecify.annotations.NullMarked;
