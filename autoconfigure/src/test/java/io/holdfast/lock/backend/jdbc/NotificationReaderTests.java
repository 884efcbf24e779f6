package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.postgresql.PGNotification;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link NotificationReader}, which relies on a private field of the driver.
 */
class NotificationReaderTests {

	@Slow
	@Test
	void driverDoesNotDelayNotifications() throws SQLException {
		try (PostgresServer server = PostgresServer.started();
				Connection connection = DriverManager.getConnection(server.jdbcUrl());
				Statement statement = connection.createStatement()) {
			statement.execute("LISTEN news");
			try (NotificationReader reader = new NotificationReader(connection)) {
				assertThat(reader.isPrompt()).isTrue();
				statement.execute("NOTIFY news, 'one'");
				statement.execute("NOTIFY news, 'two'");
				List<String> received = new ArrayList<>();
				while (received.size() < 2) {
					for (PGNotification news : reader.read((int) BOUND.toMillis())) {
						received.add(news.getParameter());
					}
				}
				assertThat(received).containsExactly("one", "two");
				assertThat(reader.read(1)).isEmpty();
			}
		}
	}

}
