package io.holdfast.sample;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;

/**
 * A placed order.
 *
 * @param product the id of the product
 * @param quantity the quantity sold
 * @param remaining the remaining stock as this order computed it
 * @param fencingToken the token of the lock under which the order was placed, or
 * {@code null} if there was none
 */
public record Order(long product, int quantity, int remaining, @Nullable FencingToken fencingToken) {

}
