package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.etcd.jetcd.ClientBuilder;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Keeps locks as lines of keys in etcd. One transaction puts a claim's own key at the end
 * of the lock's line and reads who stands just before; who is first holds the lock, and
 * readers hold it together up to the first writer. The token is the revision that created
 * the key: etcd gives each once, and gives them in the order of the line.
 *
 * <p>
 * Keys live with a lease: claims that are renewed with one that this JVM keeps alive for
 * all of the same lease time, others each with its own. Leases are in whole seconds, and
 * etcd may grant longer ones than were asked for. Claims are granted in the order of
 * arrival.
 *
 * <p>
 * Thread-safe and never blocks, but in {@link #checkAccess} and {@link #close}.
 */
public final class EtcdLockBackend implements LockBackend, AutoCloseable {

	/** The name of this store. */
	public static final String NAME = "etcd";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, true, false, true,
			Duration.ofSeconds(2));

	/** How long to wait without a signal at most: a net under the watch. */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private final EtcdCalls calls;

	private final Keys keys;

	private final Sessions sessions;

	private final Line line;

	private final Renewals renewals;

	private final Map<OwnerId, Place> places = new ConcurrentHashMap<>();

	private final SchedulingClock clock;

	private final Runnable stopClock;

	/**
	 * Create the store with a client of its own. Nothing is connected before the first
	 * request.
	 * @param where where etcd is and as whom to log in; how requests are sent is set here
	 * @param namespace what the locks of this application are told apart by from those of
	 * others
	 * @param responseTimeout longest wait for an answer
	 */
	public EtcdLockBackend(ClientBuilder where, String namespace, Duration responseTimeout) {
		this(JetcdClient.create(where, responseTimeout), namespace, new SystemSchedulingClock("holdfast-etcd"));
	}

	private EtcdLockBackend(EtcdClient client, String namespace, SystemSchedulingClock clock) {
		this(client, namespace, clock, clock::close);
	}

	/**
	 * Creates a backend on a client and a clock of the caller's.
	 * @param client sends the requests; closed with the backend
	 * @param namespace distinguishes the locks of this application
	 * @param clock the source of time
	 * @param stopClock called when the backend is closed
	 */
	EtcdLockBackend(EtcdClient client, String namespace, SchedulingClock clock, Runnable stopClock) {
		this.calls = new EtcdCalls(client);
		this.keys = new Keys(namespace);
		this.clock = clock;
		this.stopClock = stopClock;
		this.sessions = new Sessions(this.calls, this.keys, clock, this::sessionEnded);
		this.line = new Line(this.calls, this.keys, this.sessions, clock);
		this.renewals = new Renewals(this.calls, this.keys, clock, this.places::get, this::lost);
	}

	/**
	 * Ask etcd whether locks can be kept there, and wait for the answer.
	 * @throws LockBackendException if it does not answer
	 * @throws LockConfigurationException if it refuses access
	 */
	public void checkAccess() {
		try {
			this.calls.tryAccess(this.keys.root()).join();
		}
		catch (RuntimeException ex) {
			Throwable cause = EtcdFailures.cause(ex);
			String refusal = EtcdFailures.refusal(cause);
			if (refusal != null) {
				throw new LockConfigurationException("etcd refuses access for locks " + advice(refusal), cause);
			}
			throw new LockBackendException(EtcdFailures.describe(cause), cause);
		}
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return CAPABILITIES;
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		Place place = this.places.computeIfAbsent(claim.owner(), (owner) -> new Place(claim, this.keys.of(claim)));
		if (place.isReleased()) {
			// an owner whose release is still under way asks anew
			return withdraw(place).thenCompose((done) -> tryAcquire(claim))
				.exceptionally(AcquireResult.Indeterminate::new);
		}
		long start = this.clock.nanos();
		return this.line.stand(place)
			.thenCompose((standing) -> answer(place, claim, standing, start))
			.exceptionallyCompose((failure) -> failed(place, claim, EtcdFailures.cause(failure)));
	}

	private CompletionStage<AcquireResult> answer(Place place, Claim claim, Standing standing, long start) {
		String before = standing.before();
		EtcdLease lease = place.lease();
		if (before != null) {
			return refused(place, claim, before, standing.seenAt());
		}
		if (lease == null || !place.grant()) {
			return CompletableFuture.failedFuture(new EtcdCalls.KeyGoneException(standing.revision()));
		}
		Duration left = lease.lastsFrom(start);
		return CompletableFuture.completedFuture(new AcquireResult.Acquired(
				claim.renewed() ? new Grant(claim, standing.revision(), left, place.revoked())
						: new Grant(claim, standing.revision(), left)));
	}

	private CompletionStage<AcquireResult> refused(Place place, Claim claim, String before, long seenAt) {
		if (claim.patience().isZero()) {
			return withdraw(place)
				.thenApply((done) -> new AcquireResult.Contended(new CompletableFuture<>().minimalCompletionStage(),
						LONGEST_WAIT));
		}
		EtcdLease lease = place.lease();
		if (lease != null && !claim.renewed()) {
			place.renewWhileWaiting(lease, this.clock);
		}
		return CompletableFuture.completedFuture(new AcquireResult.Contended(
				place.waitFor(before, () -> KeyWatch.on(this.calls, before, seenAt)), LONGEST_WAIT));
	}

	private CompletionStage<AcquireResult> failed(Place place, Claim claim, Throwable cause) {
		boolean gone = cause instanceof EtcdCalls.KeyGoneException || EtcdFailures.isLeaseGone(cause);
		if (gone && place.isGranted() && place.end()) {
			// an owner that was overtaken is a newcomer
			return lost(place).thenCompose((done) -> tryAcquire(claim));
		}
		String refusal = EtcdFailures.refusal(cause);
		if (refusal == null) {
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(cause));
		}
		if (!place.isOpen() && place.revision() == 0) {
			forget(place);
		}
		return CompletableFuture.failedFuture(refused(claim, refusal, cause));
	}

	private LockBackendException refused(Claim claim, String refusal, Throwable cause) {
		return new LockBackendException(
				"Lock '%s' (store etcd): etcd refuses the request ".formatted(claim.lock()) + advice(refusal), cause);
	}

	private String advice(String refusal) {
		return "(%s). Check 'distributed-lock.etcd.username' and 'password', and that the user's role may read and write the keys that begin with '%s'."
			.formatted(refusal, this.keys.root());
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return this.renewals.renew(grants);
	}

	/** Forgets a hold whose key is gone, once no late request can create it anew. */
	private CompletableFuture<Void> lost(Place place) {
		if (place.isOpen()) {
			return withdraw(place);
		}
		forget(place);
		return CompletableFuture.completedFuture(null);
	}

	private CompletableFuture<Void> withdraw(Place place) {
		place.end();
		return this.line.leave(place).thenAccept((done) -> forget(place));
	}

	private void forget(Place place) {
		place.end();
		this.places.remove(place.claim.owner(), place);
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		Place place = this.places.get(grant.claim().owner());
		if (place == null || place.revision() != grant.storeToken()) {
			return CompletableFuture.completedFuture(new ReleaseResult.NotHeld());
		}
		place.release();
		return this.line.end(place, grant.storeToken()).handle((stood, failure) -> {
			if (failure != null) {
				Throwable cause = EtcdFailures.cause(failure);
				String refusal = EtcdFailures.refusal(cause);
				if (refusal != null) {
					throw refused(grant.claim(), refusal, cause);
				}
				return new ReleaseResult.Indeterminate(cause);
			}
			forget(place);
			return stood ? new ReleaseResult.Released() : new ReleaseResult.NotHeld();
		});
	}

	/**
	 * Gives the key a lease of its own, which outlives the session and this client.
	 */
	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		Place place = this.places.get(grant.claim().owner());
		if (place == null || place.revision() != grant.storeToken()) {
			return CompletableFuture.completedFuture(false);
		}
		place.release();
		return this.line.retain(place, grant.storeToken(), remaining).thenApply((kept) -> {
			forget(place);
			return kept;
		});
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		Place place = this.places.get(claim.owner());
		// of a claim that is not known, etcd keeps nothing
		return (place == null) ? CompletableFuture.completedFuture(null)
				: withdraw(place).exceptionallyCompose((failure) -> {
					Throwable cause = EtcdFailures.cause(failure);
					String refusal = EtcdFailures.refusal(cause);
					return CompletableFuture.failedFuture((refusal != null) ? refused(claim, refusal, cause) : cause);
				});
	}

	/** The keys of the claims that this JVM knows of. */
	List<String> claimedKeys() {
		return this.places.values().stream().map((place) -> place.key).toList();
	}

	private void sessionEnded(Session session) {
		this.places.values().stream().filter((place) -> place.session() == session).forEach((place) -> {
			if (place.isGranted()) {
				lost(place);
			}
			place.leaseEnded();
		});
	}

	/** Give back what this JVM still has at etcd, and close the client. */
	@Override
	public void close() {
		this.stopClock.run();
		List<CompletableFuture<?>> ends = new ArrayList<>(this.sessions.end());
		this.places.values()
			.stream()
			.filter((place) -> !place.claim.renewed())
			.map(this.line::leave)
			.forEach(ends::add);
		CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).handle((done, failure) -> done).join();
		this.calls.close();
	}

}
