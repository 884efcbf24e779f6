package io.holdfast.lock.web;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ResponseStatus;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Stages;

/**
 * Creates RFC 9457 problems for exceptions of locks. The text for the client contains no
 * message of an exception, which may name servers. The log gets that message in one line,
 * without a stack trace.
 *
 * <p>
 * Thread-safe.
 */
public final class LockProblems {

	private static final Log logger = LogFactory.getLog(LockProblems.class);

	private static final int UNAVAILABLE = HttpStatus.SERVICE_UNAVAILABLE.value();

	private final int status;

	private final Duration retryAfter;

	/**
	 * Creates the factory.
	 * @param status the status if another holder kept the lock, from 400 to 599. All
	 * other failures have the status 503
	 * @param retryAfter the time in the header {@code Retry-After}, rounded up to
	 * seconds; zero omits the header
	 * @throws LockConfigurationException if a value is out of range
	 */
	public LockProblems(int status, Duration retryAfter) {
		if (status < 400 || status > 599) {
			throw new LockConfigurationException(
					"'distributed-lock.web.status' is %s. Set it between 400 and 599.".formatted(status));
		}
		if (retryAfter.isNegative()) {
			throw new LockConfigurationException(
					"'distributed-lock.web.retry-after' is %s. Set a time, or 0s for no header 'Retry-After'."
						.formatted(DurationText.of(retryAfter)));
		}
		this.status = status;
		this.retryAfter = retryAfter;
	}

	/**
	 * Returns the exception of a lock that a call has failed with. An invalid
	 * configuration is a mistake of the application and no problem of the client. A
	 * subclass with a status of its own is left to Spring.
	 * @param failure the failure, possibly in the wrapper of a future
	 * @return the exception, or {@code null} if the failure is another one
	 */
	static @Nullable LockException find(Throwable failure) {
		return (Stages.cause(failure) instanceof LockException ours && !(ours instanceof LockConfigurationException)
				&& !AnnotatedElementUtils.hasAnnotation(ours.getClass(), ResponseStatus.class)) ? ours : null;
	}

	/**
	 * Returns whether a person asks, who prefers the error page of the application.
	 * Browsers name HTML and no other format of a response body.
	 * @param accepted the media types that the client accepts
	 */
	static boolean prefersPage(List<MediaType> accepted) {
		return accepted.stream().anyMatch((type) -> type.equalsTypeAndSubtype(MediaType.TEXT_HTML)) && accepted.stream()
			.noneMatch((type) -> type.isConcrete()
					&& (type.getSubtype().equals("json") || "json".equals(type.getSubtypeSuffix())));
	}

	/**
	 * Returns the URI of a problem.
	 * @param path the path of the request
	 * @return the URI, or {@code null} if the path is none, such as two slashes
	 */
	static @Nullable URI instance(String path) {
		try {
			return new URI(path);
		}
		catch (URISyntaxException ex) {
			return null;
		}
	}

	/**
	 * Creates the response, and logs the exception in one line.
	 * @param failure the exception
	 * @return the response
	 */
	public ResponseEntity<ProblemDetail> respond(LockException failure) {
		logger.info(failure.getMessage());
		ProblemDetail problem = problem(failure);
		if (failure.lock() != null) {
			problem.setProperty("lock", failure.lock().id());
		}
		ResponseEntity.BodyBuilder response = ResponseEntity.status(problem.getStatus());
		long seconds = this.retryAfter.plusSeconds(1).minusNanos(1).toSeconds();
		if (!(failure instanceof LockLostException) && seconds > 0) {
			response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
		}
		return response.body(problem);
	}

	private ProblemDetail problem(LockException failure) {
		String lock = (failure.lock() != null) ? "lock '" + failure.lock() + "'" : "the lock";
		if (failure instanceof LockNotAcquiredException refused) {
			return notAcquired(refused, lock);
		}
		if (failure instanceof LockLostException) {
			return problem(UNAVAILABLE, "lock-lost", "Lock lost",
					"The call lost %s while it was running. Check whether it took effect before you repeat it."
						.formatted(lock));
		}
		if (failure instanceof StaleFencingTokenException) {
			return problem(UNAVAILABLE, "stale-fencing-token", "Lock taken over",
					"A newer holder of %s has taken over. Nothing was written. Repeat the call.".formatted(lock));
		}
		return problem(UNAVAILABLE, "lock-store-unavailable", "Lock store unavailable",
				"The store that keeps %s is unavailable. Repeat the call later.".formatted(lock));
	}

	private ProblemDetail notAcquired(LockNotAcquiredException refused, String lock) {
		Duration waited = refused.waited().truncatedTo(ChronoUnit.MILLIS);
		ProblemDetail problem = switch (refused.reason()) {
			case HELD -> problem(this.status, "lock-not-acquired", "Lock not acquired",
					waited.isZero() ? "Another holder has %s. Repeat the call later.".formatted(lock)
							: "Another holder still had %s after %s. Repeat the call later.".formatted(lock,
									DurationText.of(waited)));
			case INTERRUPTED -> problem(UNAVAILABLE, "lock-not-acquired", "Lock not acquired",
					"The wait for %s was interrupted after %s. Repeat the call.".formatted(lock,
							DurationText.of(waited)));
			case STOPPING -> problem(UNAVAILABLE, "lock-not-acquired", "Lock not acquired",
					"This instance is stopping and does not acquire %s. Repeat the call.".formatted(lock));
		};
		problem.setProperty("waited", waited.toString());
		problem.setProperty("reason", refused.reason().name().toLowerCase(Locale.ROOT));
		return problem;
	}

	private static ProblemDetail problem(int status, String type, String title, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatusCode.valueOf(status), detail);
		problem.setType(URI.create("urn:holdfast:" + type));
		problem.setTitle(title);
		return problem;
	}

}
