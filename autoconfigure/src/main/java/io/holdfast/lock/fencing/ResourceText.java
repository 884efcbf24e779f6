package io.holdfast.lock.fencing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import org.springframework.core.io.ClassPathResource;

/**
 * Loads the scripts of this package from the class path.
 */
final class ResourceText {

	private ResourceText() {
	}

	static String of(String name) {
		try {
			return new ClassPathResource(name, ResourceText.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
