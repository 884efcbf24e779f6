/**
 * Benchmarks of locks beside those of other libraries, on the same servers in interleaved
 * rounds.
 */
@NullMarked
package io.holdfast.verification.benchmark;

import org.jspecify.annotations.NullMarked;
