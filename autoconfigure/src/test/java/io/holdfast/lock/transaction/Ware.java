package io.holdfast.lock.transaction;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToOne;

/**
 * An entity with a stock.
 */
@Entity(name = "ware")
class Ware {

	@Id
	long id;

	int stock = 100;

	String name;

	@ElementCollection
	List<String> tags = new ArrayList<>();

	@Embedded
	Price price = new Price();

	Instant madeAt;

	@ManyToOne(fetch = FetchType.LAZY)
	Shelf shelf;

	/** Hibernate reads it with an outer join, whose table it cannot lock. */
	@OneToOne(mappedBy = "ware")
	Label label;

	protected Ware() {
	}

	Ware(long id, Shelf shelf) {
		this.id = id;
		this.shelf = shelf;
	}

	/**
	 * The price of a ware.
	 */
	@Embeddable
	static class Price {

		@Column(precision = 10, scale = 2)
		BigDecimal amount = BigDecimal.ONE;

		String currency;

	}

}
