package io.holdfast.sample;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.stereotype.Service;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * Demonstrates a common mistake, and must not be copied: it releases the lock before the
 * transaction commits. In between, the next holder reads the old stock.
 *
 * <p>
 * In a Spring transaction, Holdfast would keep the lock until the commit despite the
 * early {@code close()}. This service therefore opens its transaction manually, where
 * Holdfast does not see it. The mistake has a second cost: a caller that waits for the
 * lock already occupies a connection of the pool.
 */
@Service
class LockInsideTransaction {

	private final DataSource dataSource;

	private final LockOperations locks;

	LockInsideTransaction(DataSource dataSource, LockOperations locks) {
		this.dataSource = dataSource;
		this.locks = locks;
	}

	Order place(long productId, int quantity, Duration think) throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			connection.setAutoCommit(false);
			try {
				Order order = sellLocked(warehouse(connection), productId, quantity, think);
				// the lock is free, but the next holder still reads the old stock
				Pause.of(think);
				connection.commit();
				return order;
			}
			catch (RuntimeException | SQLException ex) {
				connection.rollback();
				throw ex;
			}
		}
	}

	private Order sellLocked(Warehouse warehouse, long productId, int quantity, Duration think) {
		try (LockHandle ignored = this.locks.acquire(LockRequest.of("stock", productId))) {
			return Orders.sell(warehouse, productId, quantity, think);
		}
	}

	private static Warehouse warehouse(Connection connection) {
		return new Warehouse(JdbcClient.create(new SingleConnectionDataSource(connection, true)));
	}

}
