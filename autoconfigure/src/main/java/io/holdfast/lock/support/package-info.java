/**
 * Internal utilities that several packages share. Not intended for applications.
 *
 * <p>
 * This package imports nothing from Holdfast.
 */
@NullMarked
package io.holdfast.lock.support;

import org.jspecify.annotations.NullMarked;
