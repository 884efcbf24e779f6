/**
 * Coordinates locks with transactions: the release after completion, the check before a
 * commit, and the policy for a caller that is already in a transaction.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, its packages {@code spi} and
 * {@code support}, and optional libraries: Spring's support for transactions, JDBC and
 * ORM, JPA, Hibernate and MyBatis.
 *
 * <p>
 * This package is internal: its types may change in any release.
 */
@NullMarked
package io.holdfast.lock.transaction;

import org.jspecify.annotations.NullMarked;
