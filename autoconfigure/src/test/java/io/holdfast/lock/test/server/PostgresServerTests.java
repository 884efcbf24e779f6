package io.holdfast.lock.test.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Slow
class PostgresServerTests {

	@Test
	void keepsItsDataAcrossKillAndRestart() throws SQLException {
		try (PostgresServer server = PostgresServer.started()) {
			update(server, "create table kept (id int)");
			update(server, "insert into kept values (42)");
			server.kill();
			assertThat(server.isRunning()).isFalse();
			server.start();
			assertThat(firstNumber(server, "select id from kept")).isEqualTo(42);
			server.restart();
			assertThat(firstNumber(server, "select id from kept")).isEqualTo(42);
		}
	}

	@Test
	void doesNotAnswerWhilePaused() throws SQLException {
		try (PostgresServer server = PostgresServer.started()) {
			server.pause();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> firstNumber(server, "select 1"));
			server.resume();
			assertThat(firstNumber(server, "select 1")).isEqualTo(1);
		}
	}

	@Test
	void leavesNothingBehind() {
		PostgresServer server = PostgresServer.started();
		server.close();
		assertThat(server.isRunning()).isFalse();
		assertThat(server.directory()).doesNotExist();
	}

	private static void update(PostgresServer server, String sql) throws SQLException {
		try (Connection connection = connect(server); Statement statement = connection.createStatement()) {
			statement.executeUpdate(sql);
		}
	}

	private static int firstNumber(PostgresServer server, String sql) throws SQLException {
		try (Connection connection = connect(server);
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getInt(1);
		}
	}

	private static Connection connect(PostgresServer server) throws SQLException {
		Properties properties = new Properties();
		properties.setProperty("loginTimeout", "2");
		properties.setProperty("socketTimeout", "2");
		return DriverManager.getConnection(server.jdbcUrl(), properties);
	}

}
