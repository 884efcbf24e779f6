/**
 * A stock service as a team would write it: it sells what is in stock, to many buyers at
 * once, from as many instances as are started.
 */
@NullMarked
package io.holdfast.sample;

import org.jspecify.annotations.NullMarked;
