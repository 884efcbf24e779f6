package io.holdfast.verification;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What the database knows of one product after a run: the only witness that counts,
 * because an order whose answer was lost on the way is in the books all the same.
 *
 * @param stock how many are left
 * @param entries the orders, those that left most first, which is the order of their
 * writing as long as no update is lost
 */
record Books(int stock, List<Entry> entries) {

	/**
	 * One order that was committed.
	 *
	 * @param quantity how many were sold
	 * @param remaining how many were left, as that order computed it
	 * @param token the token of its lock, or 0 if there was none
	 */
	record Entry(int quantity, int remaining, long token) {
	}

	/**
	 * Read the books.
	 * @param jdbcUrl the database
	 * @param product the product's id
	 * @return what they say now
	 */
	static Books of(String jdbcUrl, long product) throws SQLException {
		try (Connection connection = DriverManager.getConnection(jdbcUrl)) {
			return new Books(stock(connection, product), entries(connection, product));
		}
	}

	private static int stock(Connection connection, long product) throws SQLException {
		try (PreparedStatement query = connection.prepareStatement("select stock from product where id = ?")) {
			query.setLong(1, product);
			ResultSet result = query.executeQuery();
			if (!result.next()) {
				throw new IllegalStateException("Product " + product + " is not in the books");
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
	 * How many were sold that the stock knows nothing of.
	 * @param initialStock the stock before the run
	 * @return the number, zero if no update was lost
	 */
	int lost(int initialStock) {
		int sold = this.entries.stream().mapToInt(Entry::quantity).sum();
		return sold - (initialStock - this.stock);
	}

	/**
	 * The tokens of the orders in the order of their writing.
	 * @return the tokens
	 */
	List<Long> tokens() {
		return this.entries.stream().map(Entry::token).toList();
	}

}
