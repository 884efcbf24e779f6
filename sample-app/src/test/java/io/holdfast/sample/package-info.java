/**
 * The sample as its users meet it: over HTTP, with each profile.
 */
@NullMarked
package io.holdfast.sample;

import org.jspecify.annotations.NullMarked;
