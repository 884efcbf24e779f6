/**
 * Lock engine: acquisition and waiting, local wait queues, validity, renewal, reentrancy,
 * loss and shutdown.
 *
 * <p>
 * The engine does not depend on a particular store, on transactions or on annotations. Of
 * Holdfast's packages, it imports only {@code io.holdfast.lock},
 * {@code io.holdfast.lock.spi} with its observers, and {@code io.holdfast.lock.support}.
 *
 * <p>
 * This package is internal: its types may change in any release.
 */
@NullMarked
package io.holdfast.lock.engine;

import org.jspecify.annotations.NullMarked;
