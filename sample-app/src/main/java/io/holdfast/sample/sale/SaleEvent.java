package io.holdfast.sample.sale;

import org.jspecify.annotations.Nullable;

/**
 * One step of one buyer.
 *
 * @param sale the number of the sale
 * @param instance the instance whose buyer it is
 * @param buyer the number of the buyer, from 1 in each instance
 * @param step what the buyer did
 * @param stock the stock that the buyer read or wrote, if it did
 * @param token the token of its lock if the step is its acquisition. A text, because
 * browsers round numbers of this size
 * @param detail the message of the exception, if there was one
 */
record SaleEvent(long sale, String instance, int buyer, SaleStep step, @Nullable Integer stock, @Nullable String token,
		@Nullable String detail) {

}
