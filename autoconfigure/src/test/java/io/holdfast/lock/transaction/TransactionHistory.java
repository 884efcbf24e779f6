package io.holdfast.lock.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Records events in order: locks as the engine reports them, transactions as the
 * connection does.
 */
final class TransactionHistory implements LockObserver, BeanPostProcessor {

	final List<String> events = Collections.synchronizedList(new ArrayList<>());

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		this.events.add("lock");
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		this.events.add("unlock");
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? new RecordingDataSource(dataSource) : bean;
	}

	private final class RecordingDataSource extends DelegatingDataSource {

		RecordingDataSource(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> {
						Object result;
						try {
							result = method.invoke(connection, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
						record(method.getName(), arguments);
						return result;
					});
		}

		private void record(String method, Object[] arguments) {
			if (method.equals("setAutoCommit") && Boolean.FALSE.equals(arguments[0])) {
				TransactionHistory.this.events.add("begin");
			}
			else if (method.equals("commit") || method.equals("rollback")) {
				TransactionHistory.this.events.add((arguments != null) ? "rollback to savepoint" : method);
			}
		}

	}

	final class Status implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			TransactionHistory.this.events.add("status " + status);
		}

	}

}
