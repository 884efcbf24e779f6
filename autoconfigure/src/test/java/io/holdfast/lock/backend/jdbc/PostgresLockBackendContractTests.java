package io.holdfast.lock.backend.jdbc;

import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.backend.Verbs;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.server.PostgresServer;

class PostgresLockBackendContractTests extends JdbcServerContract<PostgresServer> {

	PostgresLockBackendContractTests() {
		super(PostgresServer.started());
	}

	@Override
	String urlAt(int port) {
		return "jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port);
	}

	/** A lease is sticky only while its client listens. */
	@BeforeEach
	void listenBeforeCasesOfStickyLeases(TestInfo test) {
		Class<?> cases = test.getTestMethod().orElseThrow().getDeclaringClass();
		if (cases.getSimpleName().equals("StickyCases")) {
			PostgresStickyFixture.listens(backend());
			PostgresStickyFixture.listens(secondClient());
		}
	}

	/** Releases do not wait for the disk. */
	@Override
	void awaitDurability() {
		JdbcClient jdbc = JdbcClient.create(new DriverManagerDataSource(this.server.jdbcUrl()));
		String written = jdbc.sql("SELECT pg_current_wal_insert_lsn()::text").query(String.class).single();
		Awaitility.await("all commits on the disk")
			.atMost(Verbs.BOUND)
			.until(() -> jdbc.sql("SELECT pg_current_wal_flush_lsn() >= ?::pg_lsn")
				.param(written)
				.query(Boolean.class)
				.single());
	}

	@Override
	String username() {
		return PostgresServer.USERNAME;
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.FAIR, "who asks first when the lock is free gets it", Ability.KILLED_SESSION,
				"a grant is tied to no session");
	}

}
