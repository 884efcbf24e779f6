package io.holdfast.sample.sale;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.sample.Order;
import io.holdfast.sample.Pause;
import io.holdfast.sample.Warehouse;

/**
 * Sells one piece to a buyer, in one of four ways. The page shows these lines. The store
 * is chosen there, so they use {@link LockOperations}; an annotated method does the same.
 */
@Component
class Checkout {

	private final DataSource dataSource;

	private final TransactionOperations transaction;

	private final Warehouse warehouse;

	private final LockOperations locks;

	Checkout(DataSource dataSource, TransactionOperations transaction, Warehouse warehouse, LockOperations locks) {
		this.dataSource = dataSource;
		this.transaction = transaction;
		this.warehouse = warehouse;
		this.locks = locks;
	}

	void withoutLock(Buyer buyer) {
		// tag::none[]
		this.transaction.executeWithoutResult((status) -> sellOne(this.warehouse, buyer));
		// end::none[]
	}

	/**
	 * Opens its transaction manually. In a Spring transaction, Holdfast would keep the
	 * lock until the commit. The pool rolls back what is not committed.
	 */
	void lockInside(Buyer buyer) throws SQLException {
		buyer.waits();
		// tag::inside[]
		try (Connection connection = begin()) {
			try (LockHandle lock = this.locks.acquire(buyer.lock())) {
				sellOne(warehouse(connection), buyer);
			} // releases the lock: the next buyer still reads the old stock
			commit(connection, buyer);
		}
		// end::inside[]
	}

	void lockOutside(Buyer buyer) {
		buyer.waits();
		// tag::holdfast[]
		this.locks.execute(buyer.lock(),
				(lock) -> this.transaction.execute((status) -> sellOne(this.warehouse, buyer)));
		// end::holdfast[]
	}

	/**
	 * Pauses between reading and writing, for longer than its lease, as a garbage
	 * collection or a suspended machine would. The other buyers go on meanwhile.
	 */
	void lockOutsideAndPause(Buyer buyer, Duration lease, Duration pause) {
		buyer.waits();
		LockRequest shortLease = buyer.lock().toBuilder().leaseTime(lease).renew(false).build();
		// tag::paused[]
		this.locks.execute(shortLease, (lock) -> {
			int stock = read(this.warehouse, buyer);
			pause(buyer, lock, pause); // longer than its lease, so others buy
			return this.transaction.execute((status) -> write(this.warehouse, buyer, stock - 1));
		}); // the commit is refused
		// end::paused[]
	}

	private static Order sellOne(Warehouse warehouse, Buyer buyer) {
		int stock = read(warehouse, buyer);
		Pause.of(buyer.think());
		return write(warehouse, buyer, stock - 1);
	}

	private static int read(Warehouse warehouse, Buyer buyer) {
		LockHandle.current().ifPresent(buyer::acquired);
		int stock = warehouse.product(Sale.PRODUCT).stock();
		buyer.read(stock);
		return stock;
	}

	private static void pause(Buyer buyer, LockHandle lock, Duration duration) {
		lock.onLost((event) -> buyer.lost());
		buyer.paused();
		Pause.of(duration);
	}

	private static Order write(Warehouse warehouse, Buyer buyer, int remaining) {
		FencingToken token = LockHandle.current().map(LockHandle::fencingToken).orElse(null);
		Order order = new Order(Sale.PRODUCT, 1, remaining, token);
		warehouse.setStock(Sale.PRODUCT, remaining);
		warehouse.add(order);
		buyer.wrote(remaining);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					buyer.sold();
				}

			});
		}
		return order;
	}

	private Connection begin() throws SQLException {
		Connection connection = this.dataSource.getConnection();
		connection.setAutoCommit(false);
		return connection;
	}

	private static Warehouse warehouse(Connection connection) {
		return new Warehouse(JdbcClient.create(new SingleConnectionDataSource(connection, true)));
	}

	private static void commit(Connection connection, Buyer buyer) throws SQLException {
		buyer.released();
		Pause.of(buyer.think()); // a commit that takes a while
		connection.commit();
		buyer.sold();
	}

}
