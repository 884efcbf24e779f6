package io.holdfast.sample;

/**
 * A product and its stock.
 *
 * @param id the id
 * @param stock the remaining quantity
 */
public record Product(long id, int stock) {

}
