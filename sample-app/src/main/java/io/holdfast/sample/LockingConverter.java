package io.holdfast.sample;

import java.util.Locale;

import org.springframework.core.convert.converter.Converter;
import org.springframework.stereotype.Component;

/**
 * Converts the request parameter {@code lock}, which may be in lower case.
 */
@Component
class LockingConverter implements Converter<String, Locking> {

	@Override
	public Locking convert(String source) {
		return Locking.valueOf(source.toUpperCase(Locale.ROOT));
	}

}
