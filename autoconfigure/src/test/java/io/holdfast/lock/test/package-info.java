/**
 * Test support for locks, shared by all test packages.
 */
@NullMarked
package io.holdfast.lock.test;

import org.jspecify.annotations.NullMarked;
