package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Keeps locks as lines of ephemeral nodes in ZooKeeper. A claim makes a node at the end
 * of the lock's line and reads the line in one round trip; who is first holds the lock,
 * and readers hold it together up to the first writer. The token is the number of the
 * transaction that made the node.
 *
 * <p>
 * A lease lasts as long as the session: the time that the server granted it, counted anew
 * from every renewal, which asks the leader for the node. A claim that is not renewed is
 * also ended by this JVM when its own lease time is over. Claims are granted in the order
 * of arrival.
 *
 * <p>
 * Thread-safe and never blocks.
 */
public final class ZooKeeperLockBackend implements LockBackend, AutoCloseable {

	/** The name of this store. */
	public static final String NAME = "zookeeper";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, true, false, true,
			Duration.ofMillis(100));

	/**
	 * How long to wait without a signal at most: a watch is lost with its session only,
	 * so this is a net.
	 */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private static final long GRACE_MILLIS = 1_000;

	private static final long PAUSE_MILLIS = 100;

	private static final Pattern NOT_IN_A_PATH = Pattern.compile("[^A-Za-z0-9_-]");

	private final ZooKeeperCalls calls;

	private final SchedulingClock clock;

	private final Runnable stopClock;

	private final Line line;

	private final PlaceWatcher watcher;

	private final Suspension suspension;

	private final String root;

	private final String namespace;

	private final Map<OwnerId, Place> places = new ConcurrentHashMap<>();

	/**
	 * Create the store.
	 * @param client the client, started or to be started; not closed by this store
	 * @param basePath the node below which all locks are, such as {@code /holdfast}
	 * @param namespace what the locks of this application are told apart by from those of
	 * others
	 * @param whenSuspended what a check of a hold does while the connection is suspended
	 */
	public ZooKeeperLockBackend(CuratorFramework client, String basePath, String namespace,
			WhenSuspended whenSuspended) {
		this(new CuratorCalls(client), basePath, namespace, whenSuspended,
				new SystemSchedulingClock("holdfast-zookeeper"));
	}

	private ZooKeeperLockBackend(ZooKeeperCalls calls, String basePath, String namespace, WhenSuspended whenSuspended,
			SystemSchedulingClock clock) {
		this(calls, basePath, namespace, whenSuspended, clock, clock::close);
	}

	/**
	 * Create the store.
	 * @param calls sends its requests
	 * @param basePath the node below which all locks are
	 * @param namespace what the locks of this application are told apart by
	 * @param whenSuspended what a check of a hold does while the connection is suspended
	 * @param clock the source of time
	 * @param stopClock called when the backend is closed
	 */
	ZooKeeperLockBackend(ZooKeeperCalls calls, String basePath, String namespace, WhenSuspended whenSuspended,
			SchedulingClock clock, Runnable stopClock) {
		this.calls = calls;
		this.clock = clock;
		this.stopClock = stopClock;
		this.suspension = new Suspension(whenSuspended);
		this.line = new Line(calls);
		this.watcher = new PlaceWatcher(calls);
		this.namespace = namespace;
		this.root = basePath + "/" + NOT_IN_A_PATH.matcher(namespace).replaceAll("_");
		calls.listen(this::stateChanged);
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
		Place place = this.places.computeIfAbsent(claim.owner(),
				(owner) -> new Place(claim, path(claim.lock()), this.suspension.count()));
		return this.line.stand(place)
			.thenCompose((line) -> answer(place, claim, line))
			.exceptionallyCompose((failure) -> failed(claim, ZooKeeperCalls.cause(failure)));
	}

	private CompletionStage<AcquireResult> answer(Place place, Claim claim, List<PlaceName> line) {
		String path = place.path(this.calls.session());
		PlaceName own = line.stream()
			.filter((other) -> path != null && path.endsWith("/" + other.name()))
			.findFirst()
			.orElse(null);
		if (own == null) {
			place.forget();
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(
					new IllegalStateException("The node of this claim is gone, or of an older session")));
		}
		return this.line.withoutDoubles(place, line, own).thenCompose((single) -> {
			PlaceName before = own.blockedBy(single);
			return (before != null) ? refused(place, claim, before)
					: CompletableFuture.completedFuture(granted(place, claim));
		});
	}

	private AcquireResult granted(Place place, Claim claim) {
		this.watcher.stop(place);
		Duration lease = this.calls.sessionTimeout();
		if (!claim.renewed()) {
			lease = (claim.leaseTime().compareTo(lease) < 0) ? claim.leaseTime() : lease;
			endAfter(place, lease.toMillis());
		}
		else {
			place.endBy(null);
		}
		return new AcquireResult.Acquired(new Grant(claim, place.czxid(), lease, place.revoked()));
	}

	private CompletionStage<AcquireResult> refused(Place place, Claim claim, PlaceName before) {
		if (claim.patience().isZero()) {
			return abandon(claim)
				.thenApply((done) -> new AcquireResult.Contended(new CompletableFuture<>().minimalCompletionStage(),
						LONGEST_WAIT));
		}
		endAfter(place, claim.patience().toMillis() + GRACE_MILLIS);
		return CompletableFuture.completedFuture(
				new AcquireResult.Contended(this.watcher.watch(place, place.line + "/" + before.name()), LONGEST_WAIT));
	}

	private void endAfter(Place place, long millis) {
		place.endBy(this.clock.after(TimeUnit.MILLISECONDS.toNanos(millis), () -> abandon(place.claim)));
	}

	private CompletionStage<AcquireResult> failed(Claim claim, Throwable cause) {
		LockBackendException definite = definite(claim.lock(), cause);
		return (definite != null) ? CompletableFuture.failedFuture(definite)
				: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(cause));
	}

	private @Nullable LockBackendException definite(LockName lock, Throwable cause) {
		if (cause instanceof KeeperException.NoAuthException || cause instanceof KeeperException.AuthFailedException) {
			return new LockBackendException(
					"Lock '%s' (store zookeeper): ZooKeeper refuses access below '%s' (%s). Give the CuratorFramework bean the authorization, or the node an ACL, to create, read and delete there."
						.formatted(lock, this.root, ((KeeperException) cause).code()),
					cause);
		}
		return null;
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		List<CompletableFuture<RenewResult>> answers = grants.stream().map(this::renew).toList();
		return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
			.thenApply((done) -> answers.stream().map(CompletableFuture::join).toList());
	}

	private CompletableFuture<RenewResult> renew(Grant grant) {
		Place place = this.places.get(grant.claim().owner());
		String path = (place != null && place.czxid() == grant.storeToken()) ? place.path(this.calls.session()) : null;
		if (place == null || path == null) {
			return CompletableFuture.completedFuture(new RenewResult.Refused());
		}
		int interruptions = this.suspension.count();
		return this.calls.check(path).handle((event, failure) -> {
			if (failure == null) {
				place.confirmed(interruptions);
				return new RenewResult.Renewed(this.calls.sessionTimeout());
			}
			return ZooKeeperCalls.gone(failure) ? new RenewResult.Refused()
					: new RenewResult.Indeterminate(ZooKeeperCalls.cause(failure));
		});
	}

	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		Place place = this.places.get(grant.claim().owner());
		if (place == null || place.confirmedSince(this.suspension.count())) {
			return CERTAIN;
		}
		return this.suspension.over()
			.thenCompose((back) -> renew(grant))
			.thenCompose((answer) -> (answer instanceof RenewResult.Indeterminate) ? confirmLater(grant)
					: CompletableFuture.completedFuture(answer instanceof RenewResult.Renewed));
	}

	private CompletionStage<Boolean> confirmLater(Grant grant) {
		CompletableFuture<Void> pause = new CompletableFuture<>();
		this.clock.after(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> pause.complete(null));
		return pause.thenCompose((over) -> confirm(grant));
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		Place place = this.places.get(grant.claim().owner());
		String path = (place != null && place.czxid() == grant.storeToken()) ? place.path() : null;
		if (place == null || path == null) {
			return CompletableFuture.completedFuture(new ReleaseResult.NotHeld());
		}
		place.endBy(null);
		return this.calls.delete(path).handle((event, failure) -> {
			if (failure != null && !ZooKeeperCalls.gone(failure)) {
				return new ReleaseResult.Indeterminate(ZooKeeperCalls.cause(failure));
			}
			this.places.remove(grant.claim().owner(), place);
			return (failure != null) ? new ReleaseResult.NotHeld() : new ReleaseResult.Released();
		});
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		Place place = this.places.get(claim.owner());
		if (place != null) {
			place.abandon();
			place.endBy(null);
			this.watcher.stop(place);
		}
		return this.line.leave(path(claim.lock()), claim).thenRun(() -> this.places.remove(claim.owner()));
	}

	/**
	 * With the session all its nodes are gone, or will be before anybody can rely on
	 * them.
	 */
	private void stateChanged(ZooKeeperCalls.Connection state) {
		this.suspension.changed(state);
		if (state == ZooKeeperCalls.Connection.LOST) {
			long current = this.calls.session();
			this.places.values().forEach((place) -> place.sessionLost(current));
		}
	}

	/** Stop listening. What is held ends with the client's session. */
	@Override
	public void close() {
		this.calls.close();
		this.stopClock.run();
	}

	private String path(LockName lock) {
		return this.root + "/" + NOT_IN_A_PATH.matcher(lock.name()).replaceAll("_") + "-"
				+ LockDigest.of(this.namespace, lock);
	}

}
