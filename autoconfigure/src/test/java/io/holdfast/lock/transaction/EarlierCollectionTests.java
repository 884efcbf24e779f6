package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;

import org.hibernate.Hibernate;
import org.junit.jupiter.api.Test;

import static io.holdfast.lock.transaction.WareApplication.run;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a collection that a request has read before a lock and changes after the
 * locked call. Hibernate may write all of its elements.
 */
class EarlierCollectionTests {

	@Test
	void refreshedCollectionKeepsTheWritesOfTheCall() {
		run((application) -> {
			application.inTransaction((entities) -> application.find().tags.add("first"));
			application.inOpenView(() -> {
				Ware seen = application.find();
				Hibernate.initialize(seen.tags);
				application.locked(() -> application.inTransaction((entities) -> application.find().tags.add("call")));
				application.inTransaction((entities) -> {
					entities.refresh(seen);
					seen.tags.add("later");
				});
			});
			List<String> stored = application.inAnotherContext((entities) -> new ArrayList<>(application.find().tags));
			assertThat(stored).containsExactlyInAnyOrder("first", "call", "later");
		});
	}

}
