/**
 * Tests for the architecture: the dependencies allowed between packages, and rules for
 * the code in them.
 */
@NullMarked
package io.holdfast.lock.architecture;

import org.jspecify.annotations.NullMarked;
