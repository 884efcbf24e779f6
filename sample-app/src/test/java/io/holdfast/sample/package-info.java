/**
 * Tests for the sample application over HTTP, with each profile.
 */
@NullMarked
package io.holdfast.sample;

import org.jspecify.annotations.NullMarked;
