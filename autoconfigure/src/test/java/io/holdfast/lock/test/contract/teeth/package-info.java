/**
 * Proof that the contract bites: stores with one flaw each, and the cases that find it.
 */
@NullMarked
package io.holdfast.lock.test.contract.teeth;

import org.jspecify.annotations.NullMarked;
