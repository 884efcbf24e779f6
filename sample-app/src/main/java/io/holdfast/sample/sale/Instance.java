package io.holdfast.sample.sale;

import java.util.UUID;

import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * The name of this instance among those that share the database: its port, and a random
 * part for instances on several machines.
 */
@Component
class Instance {

	private final Environment environment;

	private final String random = UUID.randomUUID().toString().substring(0, 8);

	Instance(Environment environment) {
		this.environment = environment;
	}

	/** Returns the name, once the web server has started. */
	String id() {
		return this.environment.getProperty("local.server.port") + "-" + this.random;
	}

}
