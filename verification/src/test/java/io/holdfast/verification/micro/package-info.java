/**
 * Microbenchmarks of the cost that this library adds to its stores, in processor time and
 * memory.
 */
@NullMarked
package io.holdfast.verification.micro;

import org.jspecify.annotations.NullMarked;
