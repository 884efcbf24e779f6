/**
 * An application as test slices see it.
 */
@NullMarked
package io.holdfast.lock.autoconfigure.slice;

import org.jspecify.annotations.NullMarked;
