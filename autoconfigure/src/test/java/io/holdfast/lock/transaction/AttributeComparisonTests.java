package io.holdfast.lock.transaction;

import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.Clob;
import java.util.function.Consumer;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.hibernate.engine.jdbc.proxy.BlobProxy;
import org.hibernate.engine.jdbc.proxy.ClobProxy;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.transaction.WareApplication.Scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that values of types without {@code equals} count as changed only if the database
 * stores something else.
 */
class AttributeComparisonTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	private static void run(Database database, Scenario scenario) {
		WareApplication.run(database.setting(postgres), (application) -> {
			application.inTransaction((entities) -> entities.persist(new Document(1)));
			application.inOpenView(() -> scenario.run(application));
		});
	}

	private static Document find(WareApplication application) {
		return application.entities().find(Document.class, 1L);
	}

	private static void changeElsewhere(WareApplication application, Consumer<Document> change) {
		application.inAnotherContext((entities) -> {
			change.accept(entities.find(Document.class, 1L));
			return null;
		});
	}

	@ParameterizedTest
	@EnumSource
	void largeObjectsWithTheSameContentAreNoChange(Database database) {
		run(database, (application) -> {
			Document seen = find(application);
			application.locked(() -> {
			});
			seen.title = "later";
			application.inTransaction(EntityManager::flush);
			assertThat(application.<String>inAnotherContext((entities) -> find(application).title)).isEqualTo("later");
		});
	}

	@Test
	void largeObjectThatOthersHaveChangedIsNotOverwritten() {
		run(Database.H2, (application) -> {
			Document seen = find(application);
			application.locked(() -> {
			});
			seen.title = "later";
			changeElsewhere(application, (other) -> other.picture = blob("PICTURE"));
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "picture");
			Document again = find(application);
			application.locked(() -> {
			});
			again.title = "later";
			changeElsewhere(application, (other) -> other.text = ClobProxy.generateProxy("t"));
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "text");
		});
	}

	private static void assertOverwriteRefused(ThrowingCallable call, String changed) {
		ThrowableAssertAlternative<LockConfigurationException> refused = assertThatExceptionOfType(
				LockConfigurationException.class)
			.isThrownBy(call);
		refused.withMessageContaining("its row has changed since (" + changed + ")");
	}

	private static Blob blob(String content) {
		return BlobProxy.generateProxy(content.getBytes(StandardCharsets.US_ASCII));
	}

	/**
	 * An entity with large objects.
	 */
	@Entity(name = "document")
	static class Document {

		@Id
		private long id;

		private String title = "a";

		private Blob picture = blob("picture");

		private Clob text = ClobProxy.generateProxy("text");

		protected Document() {
		}

		Document(long id) {
			this.id = id;
		}

	}

}
