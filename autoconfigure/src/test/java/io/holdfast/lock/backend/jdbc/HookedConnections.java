package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.concurrent.Callable;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Connections that let a test act at a certain moment.
 */
final class HookedConnections {

	private HookedConnections() {
	}

	/**
	 * Returns connections that run an action before some of their methods.
	 * @param name the name of the method
	 * @param argument a part of its arguments as text
	 */
	static DataSource before(DataSource dataSource, String name, String argument, Callable<?> action) {
		return beforeEach(dataSource, (method, arguments) -> {
			if (method.equals(name) && arguments.contains(argument)) {
				action.call();
			}
		});
	}

	/** Returns connections that announce each call of their methods. */
	static DataSource beforeEach(DataSource dataSource, Hook hook) {
		return new DelegatingDataSource(dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							hook.calling(method.getName(), Arrays.toString(arguments));
							try {
								return method.invoke(connection, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getCause();
							}
						});
			}

		};
	}

	/** What a test does before a method of a connection. */
	@FunctionalInterface
	interface Hook {

		void calling(String method, String arguments) throws Exception;

	}

}
