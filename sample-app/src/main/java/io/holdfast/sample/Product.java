package io.holdfast.sample;

/**
 * A product and how many of it are left.
 *
 * @param id its id
 * @param stock how many are left
 */
record Product(long id, int stock) {

}
