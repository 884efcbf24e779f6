package io.holdfast.lock.fencing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A data source whose statements a test observes, or rejects.
 */
final class ObservedStatements extends DelegatingDataSource {

	private final Observer observer;

	/**
	 * Creates a data source.
	 * @param target the data source that executes the statements
	 * @param observer notified of each statement before it is prepared
	 */
	ObservedStatements(DataSource target, Observer observer) {
		super(target);
		this.observer = observer;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("prepareStatement")) {
						this.observer.onStatement((String) arguments[0]);
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/**
	 * Observes statements.
	 */
	interface Observer {

		void onStatement(String sql) throws SQLException;

	}

}
