package io.holdfast.sample.sale;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.LockBackend;

/**
 * The stores among which the page offers a choice: those that are configured.
 */
@Component
class Stores {

	private final List<LockBackend> backends;

	private final LockBackends registry;

	Stores(List<LockBackend> backends, LockBackends registry) {
		this.registry = registry;
		this.backends = backends;
	}

	/** Returns the names of the stores, with the default first. */
	List<String> names() {
		return this.backends.stream()
			.map(LockBackend::name)
			.sorted(Comparator.comparing((String name) -> !name.equals(this.registry.defaultName()))
				.thenComparing(Comparator.naturalOrder()))
			.toList();
	}

	boolean contains(String name) {
		return names().contains(name);
	}

	void require(String name) {
		if (!contains(name)) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"There is no store '%s'. Use one of %s, or start with the profile of another one.".formatted(name,
							names()));
		}
	}

	/** Returns the shortest lease that the store keeps. */
	Duration shortestLease(String name) {
		return this.registry.get(name).capabilities().shortestLease();
	}

}
