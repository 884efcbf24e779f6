package io.holdfast.lock.transaction;

import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.Clob;
import java.util.function.Consumer;

import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
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
			application.inTransaction((entities) -> {
				Document document = new Document(1, null);
				entities.persist(document);
				entities.persist(new Document(2, document));
			});
			application.inOpenView(() -> scenario.run(application));
		});
	}

	private static Document find(WareApplication application, long id) {
		return application.entities().find(Document.class, id);
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
			Document seen = find(application, 1);
			application.locked(() -> {
			});
			seen.title = "later";
			application.inTransaction(EntityManager::flush);
			assertThat(application.<String>inAnotherContext((entities) -> find(application, 1).title))
				.isEqualTo("later");
		});
	}

	@Test
	void largeObjectThatOthersHaveChangedIsNotOverwritten() {
		run(Database.H2, (application) -> {
			Document seen = find(application, 1);
			application.locked(() -> {
			});
			seen.title = "later";
			changeElsewhere(application, (other) -> other.picture = blob("PICTURE"));
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "picture");
			Document again = find(application, 1);
			application.locked(() -> {
			});
			again.title = "later";
			changeElsewhere(application, (other) -> other.text = ClobProxy.generateProxy("t"));
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "text");
		});
	}

	@Test
	void convertedValueIsComparedByItsColumn() {
		run(Database.H2, (application) -> {
			Document seen = find(application, 1);
			application.locked(() -> {
			});
			seen.title = "later";
			application.inTransaction(EntityManager::flush);
			application.entities().clear();
			find(application, 1).title = "last";
			application.locked(() -> {
			});
			changeElsewhere(application, (other) -> other.parts.note.text = "other");
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "parts");
		});
	}

	@Test
	void associationLoadedUnderTheLockIsNoChange() {
		run(Database.H2, (application) -> {
			Document seen = find(application, 2);
			application.locked(() -> application.inTransaction((entities) -> assertThat(seen.next()).isEqualTo("a")));
			assertThat(application.entities().contains(seen)).isTrue();
		});
	}

	@Test
	void changeInsideAConvertedValueIsRefused() {
		run(Database.H2, (application) -> {
			Document seen = find(application, 2);
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(
					() -> application.locked(() -> application.inTransaction((entities) -> seen.parts.note.text = "b")))
				.withMessageContaining("the locked call changed " + Document.class.getName() + " (parts)");
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
	 * An entity with values that have no {@code equals}.
	 */
	@Entity(name = "document")
	static class Document {

		@Id
		private long id;

		private String title = "a";

		private Blob picture = blob("picture");

		private Clob text = ClobProxy.generateProxy("text");

		@Embedded
		private Parts parts = new Parts();

		@ManyToOne(fetch = FetchType.LAZY)
		private Document next;

		protected Document() {
		}

		Document(long id, Document next) {
			this.id = id;
			this.next = next;
		}

		String title() {
			return this.title;
		}

		String next() {
			return this.next.title();
		}

	}

	/**
	 * The embedded values of a document.
	 */
	@Embeddable
	static class Parts {

		@Convert(converter = NoteConverter.class)
		private Note note = new Note("note");

	}

	/**
	 * A mutable value.
	 */
	static class Note {

		private String text;

		Note(String text) {
			this.text = text;
		}

	}

	/**
	 * Converts a note.
	 */
	static class NoteConverter implements AttributeConverter<Note, String> {

		@Override
		public String convertToDatabaseColumn(Note note) {
			return (note != null) ? note.text : null;
		}

		@Override
		public Note convertToEntityAttribute(String text) {
			return (text != null) ? new Note(text) : null;
		}

	}

}
