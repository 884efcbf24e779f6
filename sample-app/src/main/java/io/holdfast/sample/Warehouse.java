package io.holdfast.sample;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

import io.holdfast.lock.FencingToken;

/**
 * Reads and writes the tables of the service. It reads a number and writes a number, as
 * an ORM does. The caller must exclude concurrent writes in between.
 */
@Repository
public class Warehouse {

	private final JdbcClient jdbc;

	public Warehouse(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	public Product product(long id) {
		return this.jdbc.sql("select id, stock from product where id = ?")
			.param(id)
			.query(Product.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(id));
	}

	public void setStock(long id, int stock) {
		int updated = this.jdbc.sql("update product set stock = ? where id = ?").params(stock, id).update();
		if (updated == 0) {
			this.jdbc.sql("insert into product (id, stock) values (?, ?)").params(id, stock).update();
		}
	}

	public void add(Order order) {
		this.jdbc.sql("insert into stock_order (product, quantity, remaining, token) values (?, ?, ?, ?)")
			.params(order.product(), order.quantity(), order.remaining())
			.param(token(order.fencingToken()))
			.update();
	}

	private static @Nullable Long token(@Nullable FencingToken token) {
		return (token != null) ? token.value() : null;
	}

}
