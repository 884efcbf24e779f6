/**
 * Classes in another package than the beans of tests.
 */
@NullMarked
package io.holdfast.lock.interceptor.other;

import org.jspecify.annotations.NullMarked;
