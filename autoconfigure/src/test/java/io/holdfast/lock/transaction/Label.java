package io.holdfast.lock.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToOne;

/**
 * The label of a ware.
 */
@Entity(name = "label")
class Label {

	@Id
	long id;

	@OneToOne
	Ware ware;

	protected Label() {
	}

}
