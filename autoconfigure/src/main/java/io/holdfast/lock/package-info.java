/**
 * What a user of Holdfast touches: the annotation, the programmatic twin, the handle of a
 * hold, the fencing token, the exceptions and the events.
 *
 * <p>
 * Everything may enter this room; of ours it imports only what {@code support} has.
 */
@NullMarked
package io.holdfast.lock;

import org.jspecify.annotations.NullMarked;
