package io.holdfast.lock.engine;

import io.holdfast.lock.spi.AcquireResult;

/**
 * One request of an acquisition to the store.
 *
 * @param phase the phase of the acquisition that it belongs to
 * @param comesBack whether the store was told that the claim is repeated if refused, and
 * may therefore keep something of it
 * @param tracesBefore whether the store might have kept something before
 * @param request the request
 */
record Attempt(int phase, boolean comesBack, boolean tracesBefore, StoreRequest<AcquireResult> request) {

}
