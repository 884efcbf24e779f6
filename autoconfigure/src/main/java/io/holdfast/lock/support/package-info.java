/**
 * Utilities that several packages share.
 *
 * <p>
 * This package imports nothing from Holdfast. It is internal: its types may change in any
 * release.
 */
@NullMarked
package io.holdfast.lock.support;

import org.jspecify.annotations.NullMarked;
