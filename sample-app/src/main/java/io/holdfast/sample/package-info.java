/**
 * A stock service as a team would write it. It sells products to many concurrent buyers,
 * from any number of instances.
 */
@NullMarked
package io.holdfast.sample;

import org.jspecify.annotations.NullMarked;
