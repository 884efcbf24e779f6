package io.holdfast.sample.sale;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

import org.springframework.core.convert.converter.Converter;
import org.springframework.stereotype.Component;

/**
 * The way in which the buyers of a sale lock the stock.
 */
enum SaleMode {

	/** They do not lock. */
	NONE,

	/** They lock inside the transaction and release before its commit. */
	INSIDE,

	/** They lock around the transaction, which is correct. */
	HOLDFAST,

	/** They lock around the transaction, and one of them pauses for too long. */
	PAUSED;

	@Override
	@JsonValue
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Converts the request parameter {@code mode}, which may be in lower case.
	 */
	@Component
	static class FromText implements Converter<String, SaleMode> {

		@Override
		public SaleMode convert(String source) {
			return SaleMode.valueOf(source.toUpperCase(Locale.ROOT));
		}

	}

}
