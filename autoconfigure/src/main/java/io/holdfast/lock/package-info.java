/**
 * The public API of Holdfast: the annotation, the programmatic API, the handle of a hold,
 * the fencing token, the exceptions and the events.
 *
 * <p>
 * One type is internal: {@code LockContext} is public for the other packages of Holdfast
 * and for tests, and may change in any release.
 *
 * <p>
 * From Holdfast, this package imports only {@code io.holdfast.lock.support}. Every other
 * package may import it.
 */
@NullMarked
package io.holdfast.lock;

import org.jspecify.annotations.NullMarked;
