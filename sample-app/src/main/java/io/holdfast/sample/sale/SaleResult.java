package io.holdfast.sample.sale;

/**
 * The result of a sale in the database.
 *
 * @param sold the number of committed orders
 * @param stock the stock that is left
 * @param shouldBe the stock that should be left: the stock before the sale less the
 * orders
 * @param lost the number of orders that are missing from the stock
 * @param refused the number of buyers that could not commit, because they had lost the
 * lock
 * @param failed the number of buyers that ordered nothing for another reason
 * @param tokensGrew whether each order was placed under a greater token than the order
 * before
 */
record SaleResult(int sold, int stock, int shouldBe, int lost, int refused, int failed, boolean tokensGrew) {

}
