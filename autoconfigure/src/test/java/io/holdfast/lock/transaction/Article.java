package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;

import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.hibernate.annotations.Filter;
import org.hibernate.annotations.FilterDef;
import org.hibernate.annotations.ParamDef;

/**
 * An entity with an amount.
 */
@Entity(name = "article")
@FilterDef(name = "few", parameters = @ParamDef(name = "most", type = Integer.class))
@Filter(name = "few", condition = "amount <= :most")
class Article {

	@Id
	long id;

	int amount = 100;

	String name = "article";

	@ElementCollection
	List<String> tags = new ArrayList<>();

	@Convert(converter = NoteConverter.class)
	Note note;

	protected Article() {
	}

	Article(long id) {
		this.id = id;
	}

	void sell() {
		this.amount--;
	}

	int amount() {
		return this.amount;
	}

	/**
	 * A mutable value without {@code equals}.
	 */
	static class Note {

		String text = "none";

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
			return (text != null) ? new Note() : null;
		}

	}

}
