package io.holdfast.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Thrown if a number in a request is out of range; results in status 400.
 */
public class BadNumberException extends ResponseStatusException {

	private BadNumberException(String what, long value, long least, long most) {
		super(HttpStatus.BAD_REQUEST,
				"'%s' is %s. Use a number between %s and %s.".formatted(what, value, least, most));
	}

	public static void unlessBetween(String what, long value, long least, long most) {
		if (value < least || value > most) {
			throw new BadNumberException(what, value, least, most);
		}
	}

}
