/**
 * What tests of locks share.
 */
@NullMarked
package io.holdfast.lock.test;

import org.jspecify.annotations.NullMarked;
