package io.holdfast.sample.sale;

/**
 * A sale: many buyers order one piece each of the same product.
 *
 * @param id the number of the sale
 * @param mode how the buyers lock the stock
 * @param store the name of the store that keeps their lock
 * @param buyers the number of buyers of each instance that takes part
 * @param stock the stock before the first order
 * @param startedBy the instance that started the sale
 */
record Sale(long id, SaleMode mode, String store, int buyers, int stock, String startedBy) {

	/** The product on sale. The commands of the start report sell another one. */
	static final long PRODUCT = 1000;

	/** The stock before the first order. */
	static final int STOCK = 100;

	static final int FEWEST_BUYERS = 2;

	/** Two instances together sell at most the whole stock. */
	static final int MOST_BUYERS = STOCK / 2;

}
