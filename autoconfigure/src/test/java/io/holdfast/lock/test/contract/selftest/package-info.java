/**
 * Tests of the contract itself: clients with one flaw each, and the cases that detect it.
 */
@NullMarked
package io.holdfast.lock.test.contract.selftest;

import org.jspecify.annotations.NullMarked;
