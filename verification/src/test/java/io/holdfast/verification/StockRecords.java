package io.holdfast.verification;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The stock and the orders of one product in the database after a run. The database is
 * the only authority, because an order whose response was lost may still be committed.
 *
 * @param stock the remaining stock
 * @param entries the orders by descending remaining stock, which is the order in which
 * they were written as long as no update is lost
 */
record StockRecords(int stock, List<Entry> entries) {

	/**
	 * One committed order.
	 *
	 * @param quantity the quantity sold
	 * @param remaining the remaining stock as that order computed it
	 * @param token the token of its lock, or 0 if there was none
	 */
	record Entry(int quantity, int remaining, long token) {
	}

	/**
	 * Reads the stock and the orders of a product.
	 * @param jdbcUrl the database
	 * @param product the product's id
	 * @return the current state
	 */
	static StockRecords of(String jdbcUrl, long product) throws SQLException {
		try (Connection connection = DriverManager.getConnection(jdbcUrl)) {
			return new StockRecords(stock(connection, product), entries(connection, product));
		}
	}

	private static int stock(Connection connection, long product) throws SQLException {
		try (PreparedStatement query = connection.prepareStatement("select stock from product where id = ?")) {
			query.setLong(1, product);
			ResultSet result = query.executeQuery();
			if (!result.next()) {
				throw new IllegalStateException("Product " + product + " has no stock record");
			}
			return result.getInt(1);
		}
	}

	private static List<Entry> entries(Connection connection, long product) throws SQLException {
		try (PreparedStatement query = connection.prepareStatement(
				"select quantity, remaining, token from stock_order where product = ? order by remaining desc, id")) {
			query.setLong(1, product);
			ResultSet result = query.executeQuery();
			List<Entry> entries = new ArrayList<>();
			while (result.next()) {
				entries.add(new Entry(result.getInt(1), result.getInt(2), result.getLong(3)));
			}
			return entries;
		}
	}

	/**
	 * Returns how many sold items the stock does not account for.
	 * @param initialStock the stock before the run
	 * @return the number, zero if no update was lost
	 */
	int lost(int initialStock) {
		int sold = this.entries.stream().mapToInt(Entry::quantity).sum();
		return sold - (initialStock - this.stock);
	}

	/**
	 * Returns the tokens in the order in which the orders were written.
	 * @return the tokens
	 */
	List<Long> tokens() {
		return this.entries.stream().map(Entry::token).toList();
	}

}
