package io.holdfast.lock.actuate;

import java.security.Principal;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

import io.holdfast.lock.LockException;

/**
 * Maps the results of the endpoint to HTTP: 404 for a lock that is not used, and 503 if
 * the store does not respond. An invalid name or backend is 400, with the reason. A
 * forced release from another holder than the expected one is 412.
 */
@EndpointWebExtension(endpoint = DistributedLocksEndpoint.class)
public final class DistributedLocksEndpointWebExtension {

	private static final int STATUS_PRECONDITION_FAILED = 412;

	private final DistributedLocksEndpoint endpoint;

	/**
	 * Creates the extension.
	 * @param endpoint the endpoint
	 */
	public DistributedLocksEndpointWebExtension(DistributedLocksEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * Returns what this instance and the store know about a lock.
	 * @param lock the name, or name and key as in {@code stock:42}, as segments of a path
	 * @param key the key, if it is not part of the path
	 * @param backend the name of the backend; the default one if missing
	 * @param limit the maximum number of entries in each list of this instance
	 * @return the lock
	 */
	@ReadOperation
	public WebEndpointResponse<LockDescriptors.Lock> lock(@Selector(match = Match.ALL_REMAINING) String[] lock,
			@Nullable String key, @Nullable String backend, @Nullable Integer limit) {
		LockDescriptors.Lock found;
		try {
			found = this.endpoint.find(DistributedLocksEndpoint.name(lock, key), backend, limit);
		}
		catch (InvalidEndpointRequestException ex) {
			return new WebEndpointResponse<>(
					new LockDescriptors.Lock(text(lock, key), null, null, List.of(), List.of(), null, ex.getReason()),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
		if (found == null) {
			return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		return new WebEndpointResponse<>(found, (found.error() != null) ? WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE
				: WebEndpointResponse.STATUS_OK);
	}

	/**
	 * Releases a lock by force.
	 * @param security the user
	 * @param lock the name, or name and key as in {@code stock:42}, as one segment of a
	 * path
	 * @param key the key, if it is not part of the path
	 * @param backend the name of the backend; the default one if missing
	 * @param owner the owner id of the only holder to release; any if missing
	 * @param token the token of the only holder to release; any if missing
	 * @return the holders that lost the lock, or the present ones if none of them is the
	 * expected one
	 */
	@DeleteOperation
	public WebEndpointResponse<LockDescriptors.Release> forceRelease(SecurityContext security,
			@Selector(match = Match.ALL_REMAINING) String[] lock, @Nullable String key, @Nullable String backend,
			@Nullable String owner, @Nullable String token) {
		Principal principal = security.getPrincipal();
		try {
			LockDescriptors.Release released = this.endpoint.forceRelease(DistributedLocksEndpoint.exactName(lock, key),
					this.endpoint.backend(backend), new ExpectedHolder(owner, token),
					(principal != null) ? principal.getName() : null);
			if (released == null) {
				return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
			}
			return new WebEndpointResponse<>(released,
					(released.error() != null) ? STATUS_PRECONDITION_FAILED : WebEndpointResponse.STATUS_OK);
		}
		catch (InvalidEndpointRequestException ex) {
			return failure(lock, key, ex.getReason(), WebEndpointResponse.STATUS_BAD_REQUEST);
		}
		catch (LockException ex) {
			return failure(lock, key, ex.getMessage(), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	private static WebEndpointResponse<LockDescriptors.Release> failure(String[] lock, @Nullable String key,
			@Nullable String error, int status) {
		return new WebEndpointResponse<>(new LockDescriptors.Release(text(lock, key), List.of(), null, error), status);
	}

	/** Returns what the client asked for, valid or not. */
	private static String text(String[] lock, @Nullable String key) {
		String name = String.join("/", lock);
		return (key != null) ? name + ":" + key : name;
	}

}
