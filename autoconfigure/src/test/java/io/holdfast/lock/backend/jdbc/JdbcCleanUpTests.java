package io.holdfast.lock.backend.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the documented statements that delete rows of locks no longer in use.
 */
class JdbcCleanUpTests extends OnEveryDatabase {

	private static final long DAY_MICROS = 86_400_000_000L;

	@ParameterizedTest
	@EnumSource
	void onlyRowsUnusedForADayAreDeleted(Database database) throws Exception {
		JdbcClient client = JdbcClient.create(opened(database, 1));
		client.sql("DELETE FROM holdfast_lock").update();
		String now = JdbcDialect.valueOf(database.name()).now();
		insert(client, "old", now + " - " + 2 * DAY_MICROS, "0", "0");
		insert(client, "used", now, "0", "0");
		insert(client, "held", "1", now + " + " + DAY_MICROS, "0");
		insert(client, "read", "1", "0", now + " + " + DAY_MICROS);
		assertThat(client.sql(statement(database)).update()).isOne();
		assertThat(names(client)).containsExactly("held", "read", "used");
	}

	private static void insert(JdbcClient client, String name, String token, String until, String readersUntil) {
		client.sql(
				"INSERT INTO holdfast_lock (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us) VALUES ('%1$s', '%1$s', 'owner', %2$s, %3$s, %4$s, 0)"
					.formatted(name, token, until, readersUntil))
			.update();
	}

	private static List<String> names(JdbcClient client) {
		return client.sql("SELECT lock_name FROM holdfast_lock ORDER BY lock_name").query(String.class).list();
	}

	/** Returns the documented statement for a database. */
	static String statement(Database database) throws IOException {
		String all = new ClassPathResource("clean-up.sql", JdbcCleanUpTests.class)
			.getContentAsString(StandardCharsets.UTF_8);
		Database documented = (database == Database.MYSQL) ? Database.MARIADB : database;
		String tag = "::%s[]".formatted(documented.name().toLowerCase(Locale.ROOT));
		int start = all.indexOf("tag" + tag) + ("tag" + tag).length();
		return all.substring(start, all.indexOf("-- end" + tag)).strip();
	}

}
