/**
 * Test slices of an application.
 */
@NullMarked
package io.holdfast.lock.autoconfigure.slice;

import org.jspecify.annotations.NullMarked;
