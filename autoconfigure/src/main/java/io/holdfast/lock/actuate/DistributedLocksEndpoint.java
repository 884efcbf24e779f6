package io.holdfast.lock.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.context.ApplicationEventPublisher;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.support.Failures;

/**
 * Actuator endpoint that shows the locks of this instance, asks the store about a lock,
 * and releases a lock by force. By default, access is read-only.
 */
@Endpoint(id = "distributedlocks", defaultAccess = Access.READ_ONLY)
public final class DistributedLocksEndpoint {

	/** The type of the audit event for each attempt to release a lock by force. */
	public static final String AUDIT_TYPE = "DISTRIBUTED_LOCK_FORCE_RELEASE";

	/** The default of the maximum number of entries in each list of a response. */
	public static final int DEFAULT_LIMIT = 1000;

	private static final Log logger = LogFactory.getLog(DistributedLocksEndpoint.class);

	private final LockInspector inspector;

	private final LockBackends backends;

	private final ApplicationEventPublisher publisher;

	/**
	 * Creates the endpoint.
	 * @param inspector reads and releases the locks
	 * @param backends the backends of the application
	 * @param publisher receives an audit event for each attempt to release a lock
	 */
	public DistributedLocksEndpoint(LockInspector inspector, LockBackends backends,
			ApplicationEventPublisher publisher) {
		this.inspector = inspector;
		this.backends = backends;
		this.publisher = publisher;
	}

	/**
	 * Returns the locks that this instance holds and waits for. Sends no request.
	 * @param limit the maximum number of entries in each list; {@value #DEFAULT_LIMIT} if
	 * missing
	 * @return the locks
	 * @throws InvalidEndpointRequestException if the limit is negative
	 */
	@ReadOperation
	public LockDescriptors.Locks locks(@Nullable Integer limit) {
		return LockDescriptors.Locks.of(this.inspector.held(), this.inspector.waiting(), limit(limit));
	}

	/**
	 * Returns what this instance and the store know about a lock.
	 * @param lock the name, or name and key as in {@code stock:42}
	 * @param key the key, if it is not part of the first parameter
	 * @param backend the name of the backend; the default one if missing
	 * @param limit the maximum number of entries in each list of this instance;
	 * {@value #DEFAULT_LIMIT} if missing
	 * @return the lock, or {@code null} if it is neither held nor waited for
	 * @throws InvalidEndpointRequestException if there is no such backend, or the name,
	 * the key or the limit is not valid
	 */
	@ReadOperation
	public LockDescriptors.@Nullable Lock lock(@Selector(match = Match.ALL_REMAINING) String[] lock,
			@Nullable String key, @Nullable String backend, @Nullable Integer limit) {
		return find(exactName(lock, key), backend, limit);
	}

	/** Returns what this instance and the store know about a lock. */
	LockDescriptors.@Nullable Lock find(LockName lock, @Nullable String backend, @Nullable Integer limit) {
		LockDescriptors.Lock found = describe(lock, backend(backend), limit(limit));
		return found.isUnused() ? null : found;
	}

	/**
	 * Releases a lock by force.
	 * @param lock the name, or name and key as in {@code stock:42}, as one segment of a
	 * path
	 * @param key the key, if it is not part of the first parameter
	 * @param backend the name of the backend; the default one if missing
	 * @param owner the owner id of the only holder to release; any if missing
	 * @param token the token of the only holder to release; any if missing
	 * @return the holders that lost the lock; or the present ones, with an error, if none
	 * of them is the expected one; {@code null} if the lock was free
	 * @throws InvalidEndpointRequestException if there is no such backend, or the name or
	 * the key is not valid
	 * @throws LockException if the store fails or does not respond
	 */
	@DeleteOperation
	public LockDescriptors.@Nullable Release forceRelease(@Selector(match = Match.ALL_REMAINING) String[] lock,
			@Nullable String key, @Nullable String backend, @Nullable String owner, @Nullable String token) {
		return forceRelease(exactName(lock, key), backend(backend), new ExpectedHolder(owner, token), null);
	}

	/**
	 * Releases a lock by force, and publishes an audit event regardless of the outcome.
	 * @param backend the name of the backend
	 * @param principal the name of the user, or {@code null} if unknown
	 */
	LockDescriptors.@Nullable Release forceRelease(LockName lock, String backend, ExpectedHolder expected,
			@Nullable String principal) {
		Set<String> here = ownersHere(lock);
		try {
			List<LockState.Holder> seen = new ArrayList<>();
			List<LockState.Holder> evicted = this.inspector.forceRelease(lock, backend, (holder) -> {
				boolean accepted = expected.accepts(holder);
				if (!accepted) {
					seen.add(holder);
				}
				return accepted;
			});
			if (evicted.isEmpty() && !seen.isEmpty()) {
				audit(principal, lock, backend, "not released: the holder was not " + expected);
				return new LockDescriptors.Release(lock.id(), List.of(), describe(seen, here), expected.missing(lock));
			}
			audit(principal, lock, backend, evicted.isEmpty() ? "was free" : "released");
			return evicted.isEmpty() ? null
					: new LockDescriptors.Release(lock.id(), describe(evicted, here), null, null);
		}
		catch (LockException ex) {
			audit(principal, lock, backend, "failed: " + ex.getMessage());
			throw ex;
		}
	}

	private void audit(@Nullable String principal, LockName lock, String backend, String outcome) {
		try {
			this.publisher.publishEvent(new AuditApplicationEvent(Objects.requireNonNullElse(principal, ""), AUDIT_TYPE,
					Map.of("lock", lock.id(), "backend", backend, "outcome", outcome)));
		}
		catch (Throwable ex) {
			// the outcome remains the same
			Failures.keepInterrupt(ex);
			logger.error("A listener for the audit of the forced release of lock '%s' failed".formatted(lock), ex);
		}
	}

	/** Returns the name of the backend that is asked. */
	String backend(@Nullable String requested) {
		try {
			return this.backends.get(requested).name();
		}
		catch (LockConfigurationException ex) {
			throw invalid(ex);
		}
	}

	/**
	 * Returns the lock, which must be exactly the one that was meant. A path that is
	 * split loses its empty segments, and JMX splits text at each comma.
	 */
	static LockName exactName(String[] path, @Nullable String key) {
		if (path.length != 1) {
			String message = "The path has %s segments, or the text as many parts with commas between them, which may not name the lock that was meant, so the call has done nothing. Pass the key as the parameter 'key', over HTTP as <name>?key=<key>"
				.formatted(path.length);
			throw new InvalidEndpointRequestException(message, message);
		}
		return name(path, key);
	}

	static LockName name(String[] path, @Nullable String key) {
		String text = String.join("/", path);
		try {
			return (key != null) ? new LockName(text, key) : LockName.parse(text);
		}
		catch (LockConfigurationException ex) {
			throw invalid(ex);
		}
	}

	private static InvalidEndpointRequestException invalid(LockConfigurationException failure) {
		String message = String.valueOf(failure.getMessage());
		return new InvalidEndpointRequestException(message, message, failure);
	}

	private static int limit(@Nullable Integer requested) {
		if (requested != null && requested < 0) {
			String message = "'limit' is %s. Set zero or more.".formatted(requested);
			throw new InvalidEndpointRequestException(message, message);
		}
		return (requested != null) ? requested : DEFAULT_LIMIT;
	}

	private LockDescriptors.Lock describe(LockName lock, String backend, int limit) {
		LockDescriptors.Locks here = LockDescriptors.Locks.of(
				this.inspector.held()
					.stream()
					.filter((each) -> each.lock().equals(lock) && each.backend().equals(backend))
					.toList(),
				this.inspector.waiting()
					.stream()
					.filter((each) -> each.lock().equals(lock) && each.backend().equals(backend))
					.toList(),
				limit);
		try {
			LockState state = this.inspector.find(lock, backend);
			return LockDescriptors.Lock.of(lock, state.backend(), here,
					new LockDescriptors.Store(describe(state.holders(), ownersHere(lock)), state.waiters()), null);
		}
		catch (LockException ex) {
			return LockDescriptors.Lock.of(lock, backend, here, null, ex.getMessage());
		}
	}

	private Set<String> ownersHere(LockName lock) {
		return this.inspector.held()
			.stream()
			.filter((held) -> held.lock().equals(lock))
			.map(HeldLock::ownerId)
			.collect(Collectors.toSet());
	}

	private static List<LockDescriptors.Holder> describe(List<LockState.Holder> holders, Set<String> here) {
		return holders.stream().map((holder) -> LockDescriptors.Holder.of(holder, here)).toList();
	}

}
