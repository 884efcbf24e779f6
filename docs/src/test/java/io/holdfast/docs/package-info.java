/**
 * Tests that the documentation says what is so.
 */
@NullMarked
package io.holdfast.docs;

import org.jspecify.annotations.NullMarked;
