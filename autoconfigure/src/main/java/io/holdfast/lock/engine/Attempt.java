package io.holdfast.lock.engine;

/**
 * One request of an acquisition to the store.
 *
 * @param phase the phase of the acquisition that it belongs to
 * @param sentAt when it was sent, on the engine's clock
 * @param comesBack whether the store was told that the claim is repeated if refused, and
 * may therefore keep something of it
 * @param tracesBefore whether the store might have kept something before
 */
record Attempt(int phase, long sentAt, boolean comesBack, boolean tracesBefore) {

}
