package io.holdfast.lock.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/**
 * The shelf of a ware.
 */
@Entity(name = "shelf")
class Shelf {

	@Id
	long id;

	String name = "shelf";

	protected Shelf() {
	}

	Shelf(long id) {
		this.id = id;
	}

	String name() {
		return this.name;
	}

}
