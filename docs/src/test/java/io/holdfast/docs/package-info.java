/**
 * Tests that the documentation is correct.
 */
@NullMarked
package io.holdfast.docs;

import org.jspecify.annotations.NullMarked;
