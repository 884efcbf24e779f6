package io.holdfast.sample.sale;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.SimplePropertyRowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionOperations;

import io.holdfast.sample.Warehouse;

/**
 * Keeps the latest sale and its events in the database, which is how the instances that
 * share it see each other.
 */
@Repository
class SaleRecords {

	/**
	 * The number of seconds after which a sale counts as over, even if an instance that
	 * took part never reported its end. Every instance stops selling well before.
	 */
	private static final int LONGEST_SECONDS = 60;

	private static final int LONGEST_DETAIL = 1000;

	private final JdbcTemplate statements;

	private final JdbcClient jdbc;

	private final TransactionOperations transaction;

	private final Warehouse warehouse;

	SaleRecords(JdbcTemplate statements, JdbcClient jdbc, TransactionOperations transaction, Warehouse warehouse) {
		this.statements = statements;
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.warehouse = warehouse;
	}

	/**
	 * Opens a sale, with a full stock. The database allows one open sale at a time.
	 * @return the sale
	 * @throws SaleInProgressException if another sale is open
	 */
	Sale open(SaleMode mode, String store, int buyers, String instance) {
		try {
			return Objects.requireNonNull(this.transaction.execute((status) -> {
				this.jdbc.sql("delete from sale where active = 0 or " + expired()).update();
				GeneratedKeyHolder key = new GeneratedKeyHolder();
				this.jdbc.sql(
						"insert into sale (mode, store, buyers, stock, started_by, active, instances) values (?, ?, ?, ?, ?, 1, 1)")
					.params(mode.name(), store, buyers, Sale.STOCK, instance)
					.update(key, "id");
				this.jdbc.sql("delete from sale_event").update();
				this.jdbc.sql("delete from stock_order where product = ?").param(Sale.PRODUCT).update();
				this.warehouse.setStock(Sale.PRODUCT, Sale.STOCK);
				long id = Objects.requireNonNull(key.getKey()).longValue();
				return new Sale(id, mode, store, buyers, Sale.STOCK, instance);
			}));
		}
		catch (DuplicateKeyException ex) {
			throw new SaleInProgressException();
		}
	}

	/**
	 * Makes another instance take part in an open sale, if the stock lasts for its
	 * buyers.
	 */
	boolean join(Sale sale) {
		return this.jdbc
			.sql("update sale set active = active + 1, instances = instances + 1"
					+ " where id = ? and active > 0 and not " + expired() + " and (instances + 1) * buyers <= stock")
			.param(sale.id())
			.update() == 1;
	}

	/** Ends the part of one instance. The sale is over when the last one has left. */
	void leave(Sale sale) {
		this.jdbc.sql("update sale set active = active - 1 where id = ?").param(sale.id()).update();
	}

	Optional<Sale> latest() {
		return this.jdbc.sql("select id, mode, store, buyers, stock, started_by from sale order by id desc limit 1")
			.query(Sale.class)
			.optional();
	}

	boolean isOver(Sale sale) {
		return this.jdbc.sql("select count(*) from sale where id = ? and active > 0 and not " + expired())
			.param(sale.id())
			.query(Integer.class)
			.single() == 0;
	}

	private static String expired() {
		return "(started_at < current_timestamp - interval '" + LONGEST_SECONDS + "' second)";
	}

	/** Records events, all or none. */
	void add(List<SaleEvent> events) {
		this.transaction.executeWithoutResult((status) -> this.statements.batchUpdate(
				"insert into sale_event (sale, instance, buyer, step, stock, token, detail) values (?, ?, ?, ?, ?, ?, ?)",
				events.stream()
					.map((event) -> new @Nullable Object[] { event.sale(), event.instance(), event.buyer(),
							event.step().name(), event.stock(), event.token(), limited(event.detail()) })
					.toList()));
	}

	private static @Nullable String limited(@Nullable String detail) {
		return (detail != null && detail.length() > LONGEST_DETAIL) ? detail.substring(0, LONGEST_DETAIL) : detail;
	}

	/**
	 * Returns the events of a sale, in the order in which each instance recorded them.
	 */
	List<SaleEvent> events(Sale sale) {
		return this.jdbc
			.sql("select sale, instance, buyer, step, stock, token, detail from sale_event where sale = ? order by id")
			.param(sale.id())
			.query(new SimplePropertyRowMapper<>(SaleEvent.class))
			.list();
	}

	SaleResult result(Sale sale) {
		List<@Nullable Long> tokens = this.jdbc.sql("select token from stock_order where product = ? order by id")
			.param(Sale.PRODUCT)
			.<@Nullable Long>query((row, number) -> row.getObject("token", Long.class))
			.list();
		int stock = this.warehouse.product(Sale.PRODUCT).stock();
		int shouldBe = sale.stock() - tokens.size();
		return new SaleResult(tokens.size(), stock, shouldBe, stock - shouldBe, count(sale, SaleStep.REFUSED),
				count(sale, SaleStep.FAILED), grew(tokens));
	}

	private int count(Sale sale, SaleStep step) {
		return this.jdbc.sql("select count(*) from sale_event where sale = ? and step = ?")
			.params(sale.id(), step.name())
			.query(Integer.class)
			.single();
	}

	private static boolean grew(List<@Nullable Long> tokens) {
		return tokens.stream().noneMatch(Objects::isNull)
				&& IntStream.range(1, tokens.size()).allMatch((i) -> tokens.get(i - 1) < tokens.get(i));
	}

}
