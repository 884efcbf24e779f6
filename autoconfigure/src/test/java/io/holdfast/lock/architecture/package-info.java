/**
 * Holds the house to its plan: which room may import which, and how code in it looks.
 */
@NullMarked
package io.holdfast.lock.architecture;

import org.jspecify.annotations.NullMarked;
