package io.holdfast.lock.transaction;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a request that has read from the database before the lock, but no entity, on
 * a connection that does not commit automatically. At the default isolation of MariaDB,
 * the request's connection then has an open transaction with an old snapshot.
 */
class RequestSnapshotTests {

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private static ApplicationContextRunner runner() {
		return ArticleApplication.runner()
			.withPropertyValues("spring.datasource.url=" + mariaDb.jdbcUrl(),
					"spring.datasource.username=" + MariaDbServer.USERNAME,
					"spring.datasource.password=" + MariaDbServer.PASSWORD,
					"spring.datasource.hikari.auto-commit=false");
	}

	private static void count(ArticleApplication application) {
		assertThat(application.entities().createQuery("select count(a) from article a", Long.class).getSingleResult())
			.isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "no transaction" })
	void lockedCallReadsWhatWasCommittedBeforeTheLock(String how) {
		ArticleApplication.run(runner(), (application) -> application.inOpenView(() -> {
			count(application);
			application.changeElsewhere();
			if (how.equals("transaction")) {
				application.stock().sell();
				assertThat(application.readElsewhere()).isEqualTo(98);
			}
			else {
				assertThat(application.stock().amount()).isEqualTo(99);
			}
		}));
	}

}
