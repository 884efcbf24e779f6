package io.holdfast.lock.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import org.springframework.core.io.ClassPathResource;

/**
 * Texts on the class path.
 */
public final class Resources {

	private Resources() {
	}

	/**
	 * Reads a text in UTF-8.
	 * @param type a class in the package of the resource
	 * @param name the name of the resource within the package
	 * @return the text
	 * @throws UncheckedIOException if the resource does not exist
	 */
	public static String text(Class<?> type, String name) {
		try {
			return new ClassPathResource(name, type).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
