package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the startup of an application whose database user lacks rights to the tables
 * of Holdfast, or to create them.
 */
@ExtendWith(OutputCaptureExtension.class)
class TableRightsTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	private final ApplicationContextRunner locks = runner(JdbcLockAutoConfiguration.class)
		.withPropertyValues("distributed-lock.backend=jdbc");

	private final ApplicationContextRunner fence = runner(FencingAutoConfiguration.class)
		.withPropertyValues("distributed-lock.backend=local");

	private static ApplicationContextRunner runner(Class<?> configuration) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, DataSourceAutoConfiguration.class, configuration))
			.withPropertyValues("spring.datasource.url=" + postgres.jdbcUrl().replaceAll("[?].*", ""),
					"spring.datasource.hikari.maximum-pool-size=3", "spring.datasource.password=any");
	}

	@BeforeAll
	static void createUsers() {
		JdbcClient admin = JdbcClient
			.create(new DriverManagerDataSource(postgres.jdbcUrl(), PostgresServer.USERNAME, "any"));
		for (String statement : """
				REVOKE CREATE ON SCHEMA public FROM public;
				CREATE USER reader;
				CREATE USER writer;
				%s
				%s
				GRANT SELECT ON holdfast_lock, holdfast_lock_reader, holdfast_fence TO reader;
				GRANT SELECT, INSERT, UPDATE ON holdfast_lock, holdfast_lock_reader, holdfast_fence TO writer;
				GRANT DELETE ON holdfast_lock_reader TO writer
				""".formatted(JdbcLockBackend.schema("holdfast_lock"), JdbcFencingGuard.schema("holdfast_fence"))
			.replaceAll("--.*", "")
			.split(";")) {
			admin.sql(statement).update();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "always" })
	void tablesOfAMigrationAreUsedWithoutTheRightToCreateThem(String mode, CapturedOutput output) {
		this.locks
			.withPropertyValues("spring.datasource.username=writer", "distributed-lock.jdbc.initialize-schema=" + mode)
			.run((context) -> {
				try (LockHandle hold = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", mode))) {
					assertThat(hold.backend()).isEqualTo("jdbc");
				}
				assertThat(output.getAll().contains("permission denied for schema public"))
					.isEqualTo(mode.equals("always"));
			});
		this.fence
			.withPropertyValues("spring.datasource.username=writer",
					"distributed-lock.fencing.initialize-schema=" + mode)
			.run((context) -> assertThat(output).contains("fenced by the table 'holdfast_fence'"));
	}

	@Test
	void missingTablesThatCannotBeCreatedStopTheStart() {
		this.locks
			.withPropertyValues("spring.datasource.username=writer", "distributed-lock.jdbc.table=others",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("do not exist and cannot be created")
				.hasStackTraceContaining("'distributed-lock.jdbc.initialize-schema' asks for")
				.hasStackTraceContaining("permission denied for schema public"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "holdfast_other", "nowhere.fence" })
	void missingFenceThatCannotBeCreatedStopsTheStart(String table) {
		this.fence
			.withPropertyValues("spring.datasource.username=writer", "distributed-lock.fencing.table=" + table,
					"distributed-lock.fencing.initialize-schema=always")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("do not exist and cannot be created")
				.hasStackTraceContaining("set 'distributed-lock.fencing.enabled=false'"));
	}

	@Test
	void userThatMayOnlyReadTheTablesStopsTheStart() {
		this.locks.withPropertyValues("spring.datasource.username=reader")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("may not use the tables 'holdfast_lock' and 'holdfast_lock_reader'")
				.hasStackTraceContaining("Grant it SELECT, INSERT and UPDATE"));
	}

	/** Its releases would fail as soon as another instance waits. */
	@Test
	void userThatMayNotNotifyStopsTheStart() {
		JdbcClient admin = JdbcClient
			.create(new DriverManagerDataSource(postgres.jdbcUrl(), PostgresServer.USERNAME, "any"));
		admin.sql("REVOKE EXECUTE ON FUNCTION pg_notify FROM PUBLIC").update();
		try {
			this.locks.withPropertyValues("spring.datasource.username=writer")
				.run((context) -> assertThat(context).getFailure()
					.hasStackTraceContaining("permission denied for function pg_notify")
					.hasStackTraceContaining("Grant it EXECUTE on the function 'pg_notify'"));
		}
		finally {
			admin.sql("GRANT EXECUTE ON FUNCTION pg_notify TO PUBLIC").update();
		}
	}

	@Test
	void userThatMayOnlyReadTheFenceStopsTheStart() {
		this.fence.withPropertyValues("spring.datasource.username=reader")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("may not read and write the table 'holdfast_fence'")
				.hasStackTraceContaining("permission denied for table holdfast_fence"));
		this.fence.withPropertyValues("spring.datasource.username=writer", "spring.datasource.hikari.read-only=true")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("may not read and write the table 'holdfast_fence'"));
		this.fence.withPropertyValues("spring.datasource.username=reader", "distributed-lock.fencing.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
