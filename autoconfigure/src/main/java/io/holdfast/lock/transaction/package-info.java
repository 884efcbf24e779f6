/**
 * Where a lock meets a transaction: release after completion, the check before a commit,
 * the policy for a caller that is already in a transaction.
 *
 * <p>
 * Imports only {@code io.holdfast.lock}, and Spring's transactions, which are optional.
 */
@NullMarked
package io.holdfast.lock.transaction;

import org.jspecify.annotations.NullMarked;
