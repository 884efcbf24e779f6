package io.holdfast.sample;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;

/**
 * An order that was placed.
 *
 * @param product the id of the product
 * @param quantity how many were sold
 * @param remaining how many were left, as this order computed it
 * @param fencingToken the token of the lock under which it was placed, or {@code null} if
 * there was none
 */
record Order(long product, int quantity, int remaining, @Nullable FencingToken fencingToken) {

}
