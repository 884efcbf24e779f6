/**
 * What a user of Holdfast touches: the annotation, the programmatic twin, the handle of a
 * hold, the fencing token, the exceptions and the events.
 *
 * <p>
 * Everything may enter this room; it imports nothing else of ours.
 */
@NullMarked
package io.holdfast.lock;

import org.jspecify.annotations.NullMarked;
