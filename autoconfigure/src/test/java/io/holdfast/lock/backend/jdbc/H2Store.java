package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedNode;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The backend for databases on H2, whose time is that of a simulated server. Requests
 * overtake each other, and the database carries some out late, after their client has
 * given up. A transaction is carried out as a whole when the response to its first
 * request has arrived.
 */
public class H2Store implements SimulatedStore {

	private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(3);

	private static final int MOST_WORK = 2_000_000;

	private static final String TABLE = JdbcContract.TABLE;

	private final SimulatedNode server;

	/** The only session: nothing that it carries out waits. */
	private final Connection session;

	private final JdbcTemplate jdbc;

	private final Map<SimulatedProcess, JdbcLockBackend> backends = new LinkedHashMap<>();

	/**
	 * Creates an empty database.
	 * @param simulation the simulated run
	 */
	public H2Store(Simulation simulation) {
		this.server = simulation.server("database");
		SingleConnectionDataSource single = new SingleConnectionDataSource("jdbc:h2:mem:;DB_CLOSE_ON_EXIT=FALSE", true);
		this.session = DataSourceUtils.getConnection(single);
		JdbcContract.createTables(single);
		this.jdbc = new JdbcTemplate(single);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		SimulatedLink link = new SimulatedLink(process, this.server, SimulatedLink.Order.ANY);
		DataSource dataSource = new AbstractDataSource() {

			@Override
			public Connection getConnection() {
				return new Client(process, link).connection();
			}

			@Override
			public Connection getConnection(String user, String password) {
				return getConnection();
			}

		};
		JdbcLockBackend backend = new JdbcLockBackend(dataSource,
				new JdbcLockOptions("sim", TABLE, RESPONSE_TIMEOUT, false), process);
		this.backends.put(process, backend);
		return backend;
	}

	@Override
	public Collection<String> leftovers() {
		List<String> left = new ArrayList<>(this.jdbc.queryForList(
				"SELECT lock_name FROM " + TABLE + " WHERE GREATEST(until_us, readers_until_us, waiter_until_us) > ?",
				String.class, micros()));
		this.backends.forEach((process, backend) -> {
			if (!process.killed() && backend.waiting() > 0) {
				left.add("%d claims that wait in the memory of %s".formatted(backend.waiting(), process));
			}
		});
		return left;
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("the database stands still", this.server::pause, this.server::resume));
	}

	/** Mutants replace this method. */
	private String adapted(String statement) {
		return inVirtualTime(statement);
	}

	static String inVirtualTime(String statement) {
		return statement.replace(JdbcDialect.H2.now(), "CAST(@now AS BIGINT)");
	}

	private long micros() {
		return this.server.nanos() / 1_000;
	}

	/** One connection of one process. */
	private final class Client {

		private final SimulatedProcess process;

		private final SimulatedLink link;

		private boolean autoCommit = true;

		/** Whether the present transaction has sent its first request. */
		private boolean inTransaction;

		Client(SimulatedProcess process, SimulatedLink link) {
			this.process = process;
			this.link = link;
		}

		Connection connection() {
			return proxy(Connection.class, (method, arguments) -> switch (method.getName()) {
				case "prepareStatement" -> statement((String) arguments[0]);
				case "getAutoCommit" -> this.autoCommit;
				case "setAutoCommit" -> this.autoCommit = (Boolean) arguments[0];
				case "commit" -> commit();
				case "rollback", "close", "abort" -> rollback();
				case "isClosed" -> false;
				default -> method.invoke(H2Store.this.session, arguments);
			});
		}

		private PreparedStatement statement(String text) {
			List<Call> calls = new ArrayList<>();
			List<PreparedStatement> executed = new ArrayList<>();
			return proxy(PreparedStatement.class, (method, arguments) -> {
				if (method.getName().startsWith("execute")) {
					return request(() -> {
						PreparedStatement statement = prepare(text);
						executed.add(statement);
						for (Call call : calls) {
							call.method.invoke(statement, call.arguments);
						}
						return method.invoke(statement, arguments);
					});
				}
				if (method.getName().equals("close")) {
					for (PreparedStatement statement : executed) {
						statement.close();
					}
					return null;
				}
				calls.add(new Call(method, arguments));
				return null;
			});
		}

		private PreparedStatement prepare(String text) throws SQLException {
			H2Store.this.jdbc.update("SET @now = ?", micros());
			return H2Store.this.session.prepareStatement(adapted(text));
		}

		private Object request(Work work) throws Exception {
			if (this.autoCommit) {
				return await(work);
			}
			if (!this.inTransaction) {
				await(() -> true);
				H2Store.this.session.setAutoCommit(false);
				this.inTransaction = true;
			}
			return work.run();
		}

		private @Nullable Object commit() throws Exception {
			if (this.inTransaction) {
				H2Store.this.session.commit();
				rollback();
				await(() -> true);
			}
			return null;
		}

		private @Nullable Object rollback() throws SQLException {
			if (this.inTransaction) {
				this.inTransaction = false;
				H2Store.this.session.rollback();
				H2Store.this.session.setAutoCommit(true);
			}
			return null;
		}

		/** Blocks until the server has responded or the request has timed out. */
		private Object await(Work work) throws SQLException {
			boolean[] carriedOut = new boolean[1];
			CompletableFuture<Object> answer = this.link.send(() -> {
				CompletableFuture<Object> result = new CompletableFuture<>();
				if (!carriedOut[0]) {
					carriedOut[0] = true;
					H2Store.this.server.after(this.process.jitter(MOST_WORK), () -> carryOut(work, result));
				}
				return result;
			});
			this.process.await(answer, RESPONSE_TIMEOUT.toNanos());
			try {
				return answer.join();
			}
			catch (CompletionException ex) {
				throw (ex.getCause() instanceof SQLException failure) ? failure
						: new SQLNonTransientConnectionException("no answer from the database", "08006", ex);
			}
		}

		private static void carryOut(Work work, CompletableFuture<Object> result) {
			try {
				result.complete(work.run());
			}
			catch (InvocationTargetException ex) {
				result.completeExceptionally(ex.getCause());
			}
			catch (Exception ex) {
				result.completeExceptionally(ex);
			}
		}

		private static <T> T proxy(Class<T> type, Handler handler) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(self, method, arguments) -> {
						try {
							return handler.handle(method, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					}));
		}

	}

	/** What the client sets for an execution. */
	private record Call(Method method, Object[] arguments) {
	}

	/** What the database does for one request. */
	@FunctionalInterface
	private interface Work {

		Object run() throws Exception;

	}

	/** Carries out a method of a proxy. */
	@FunctionalInterface
	private interface Handler {

		@Nullable Object handle(Method method, Object[] arguments) throws Exception;

	}

}
