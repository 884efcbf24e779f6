/**
 * Internal plumbing that several rooms share. Not for applications.
 *
 * <p>
 * Imports nothing of Holdfast.
 */
@NullMarked
package io.holdfast.lock.support;

import org.jspecify.annotations.NullMarked;
