package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;

import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The locks of a database whose settings change what statements mean.
 */
final class LocksUnderSettings {

	private LocksUnderSettings() {
	}

	static Claim claim(LockName lock, LockMode mode) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(20), false, Duration.ZERO, false);
	}

	/** Asserts that tokens grow, and that writers exclude each other and readers. */
	static void assertExcludeEachOther(DataSource dataSource) throws Exception {
		JdbcContract.createTables(dataSource);
		LockName lock = LockName.of("stock", UUID.randomUUID());
		try (JdbcLockBackend store = JdbcContract.patientBackend(dataSource)) {
			store.verify();
			long last = 0;
			for (int i = 0; i < 3; i++) {
				Claim claim = claim(lock, LockMode.EXCLUSIVE);
				Grant grant = granted(store, claim);
				assertThat(grant.storeToken()).isGreaterThan(last);
				last = grant.storeToken();
				assertThat(ask(store, claim)).isInstanceOf(AcquireResult.Acquired.class);
				refused(store, claim(lock, LockMode.EXCLUSIVE));
				refused(store, claim(lock, LockMode.SHARED));
				released(store, grant);
			}
			Grant reader = granted(store, claim(lock, LockMode.SHARED));
			refused(store, claim(lock, LockMode.EXCLUSIVE));
			released(store, reader);
		}
	}

}
