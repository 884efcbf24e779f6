package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
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

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, true, false,
			Duration.ofMillis(100));

	/**
	 * How long to wait without a signal at most: a watch is lost with its session only,
	 * so this is a net.
	 */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private static final long GRACE_MILLIS = 1_000;

	private static final int NAME_LENGTH = 200;

	private static final Pattern NOT_IN_A_PATH = Pattern.compile("[^A-Za-z0-9_-]");

	private final CuratorFramework client;

	private final ZooKeeperCalls calls;

	private final String root;

	private final String namespace;

	private final Map<OwnerId, Place> places = new ConcurrentHashMap<>();

	private final ConnectionStateListener stateListener = this::stateChanged;

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
		Thread thread = new Thread(task, "holdfast-zookeeper");
		thread.setDaemon(true);
		return thread;
	});

	/**
	 * Create the store.
	 * @param client the client, started or to be started; not closed by this store
	 * @param basePath the node below which all locks are, such as {@code /holdfast}
	 * @param namespace what the locks of this application are told apart by from those of
	 * others
	 */
	public ZooKeeperLockBackend(CuratorFramework client, String basePath, String namespace) {
		this.client = client;
		this.calls = new ZooKeeperCalls(client);
		this.namespace = namespace;
		this.root = basePath + "/" + NOT_IN_A_PATH.matcher(namespace).replaceAll("_");
		this.timer.setRemoveOnCancelPolicy(true);
		client.getConnectionStateListenable().addListener(this.stateListener);
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
		Place place = this.places.computeIfAbsent(claim.owner(), (owner) -> new Place(claim, line(claim.lock())));
		return standInLine(place, claim).thenCompose((line) -> answer(place, claim, line))
			.exceptionallyCompose((failure) -> failed(claim, failure));
	}

	/** Make the node if it is not there, and read the line. */
	private CompletableFuture<List<PlaceName>> standInLine(Place place, Claim claim) {
		if (place.path(session()) != null) {
			return line(place);
		}
		CompletableFuture<Void> created = create(place, claim);
		// sent right behind it, and answered right behind it: the node is in the list
		CompletableFuture<List<PlaceName>> line = line(place);
		return created.thenCompose((done) -> line.handle((read, failure) -> {
			boolean seen = read != null && read.stream().anyMatch((other) -> other.owner().equals(owner(claim)));
			return seen ? CompletableFuture.completedFuture(read) : line(place);
		}).thenCompose((read) -> read));
	}

	private CompletableFuture<Void> create(Place place, Claim claim) {
		String data = LockDigest.readable(claim.lock(), NAME_LENGTH);
		return this.calls.create(place.line + "/" + PlaceName.prefix(claim), data).thenCompose((event) -> {
			long czxid = (event.getStat() != null) ? event.getStat().getCzxid() : 0;
			if (czxid == 0) {
				return this.calls.stat(event.getName()).thenAccept((read) -> created(place, event, read));
			}
			created(place, event, event);
			return CompletableFuture.completedFuture(null);
		});
	}

	private void created(Place place, CuratorEvent creation, CuratorEvent read) {
		place.created(creation.getName(), read.getStat().getEphemeralOwner(), read.getStat().getCzxid());
		if (place.abandoned()) {
			this.calls.delete(creation.getName());
		}
	}

	private CompletableFuture<List<PlaceName>> line(Place place) {
		return this.calls.children(place.line).thenApply(PlaceName::line);
	}

	private CompletionStage<AcquireResult> answer(Place place, Claim claim, List<PlaceName> line) {
		String path = place.path(session());
		PlaceName own = line.stream()
			.filter((other) -> path != null && path.endsWith("/" + other.name()))
			.findFirst()
			.orElse(null);
		if (own == null) {
			place.created("", 0, 0);
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(
					new IllegalStateException("The node of this claim is gone, or of an older session")));
		}
		removeDoubles(place, line, own);
		PlaceName before = own.blockedBy(line);
		if (before == null) {
			return CompletableFuture.completedFuture(granted(place, claim));
		}
		return refused(place, claim, before);
	}

	/**
	 * A creation whose reply was lost may have been repeated by the client: one node is
	 * enough.
	 */
	private void removeDoubles(Place place, List<PlaceName> line, PlaceName own) {
		line.stream()
			.filter((other) -> other.owner().equals(own.owner()) && !other.name().equals(own.name()))
			.forEach((other) -> this.calls.delete(place.line + "/" + other.name()));
	}

	private AcquireResult granted(Place place, Claim claim) {
		stopWatching(place);
		Duration lease = sessionTime();
		if (!claim.renewed()) {
			lease = (claim.leaseTime().compareTo(lease) < 0) ? claim.leaseTime() : lease;
			endAfter(place, lease.toMillis());
		}
		else {
			place.endBy(null);
		}
		return new AcquireResult.Acquired(new Grant(claim, place.czxid(), lease, place.revoked));
	}

	private CompletionStage<AcquireResult> refused(Place place, Claim claim, PlaceName before) {
		if (claim.patience().isZero()) {
			return abandon(claim)
				.thenApply((done) -> new AcquireResult.Contended(new CompletableFuture<>().minimalCompletionStage(),
						LONGEST_WAIT));
		}
		endAfter(place, claim.patience().toMillis() + GRACE_MILLIS);
		return CompletableFuture.completedFuture(
				new AcquireResult.Contended(signal(place, place.line + "/" + before.name()), LONGEST_WAIT));
	}

	private CompletionStage<Void> signal(Place place, String watched) {
		Place.Watch present = place.watchOn(watched);
		if (present != null && !present.signal().isDone()) {
			return present.signal().minimalCompletionStage();
		}
		CompletableFuture<Void> signal = new CompletableFuture<>();
		CuratorWatcher watcher = (event) -> signal.complete(null);
		forget(place.watch(new Place.Watch(watched, watcher, signal)));
		this.calls.watch(watched, watcher).whenComplete((seen, failure) -> {
			if (failure != null) {
				signal.complete(null);
			}
		});
		return signal.minimalCompletionStage();
	}

	private void stopWatching(Place place) {
		forget(place.watch(null));
	}

	private void forget(Place.@Nullable Watch watch) {
		if (watch != null && !watch.signal().isDone()) {
			this.calls.unwatch(watch.path(), watch.watcher());
		}
	}

	private void endAfter(Place place, long millis) {
		place.endBy(this.timer.schedule(() -> abandon(place.claim), millis, TimeUnit.MILLISECONDS));
	}

	private CompletionStage<AcquireResult> failed(Claim claim, Throwable failure) {
		Throwable cause = cause(failure);
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
		String path = (place != null && place.czxid() == grant.storeToken()) ? place.path(session()) : null;
		if (path == null) {
			return CompletableFuture.completedFuture(new RenewResult.Refused());
		}
		return this.calls.check(path).handle((event, failure) -> {
			if (failure == null) {
				return new RenewResult.Renewed(sessionTime());
			}
			Throwable cause = cause(failure);
			return gone(cause) ? new RenewResult.Refused() : new RenewResult.Indeterminate(cause);
		});
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
			Throwable cause = (failure != null) ? cause(failure) : null;
			if (cause != null && !gone(cause)) {
				return new ReleaseResult.Indeterminate(cause);
			}
			this.places.remove(grant.claim().owner(), place);
			return (cause != null) ? new ReleaseResult.NotHeld() : new ReleaseResult.Released();
		});
	}

	/**
	 * Deletes by owner, not by path: the reply that would have told the path may have
	 * been lost.
	 */
	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		Place place = this.places.get(claim.owner());
		if (place != null) {
			place.abandon();
			place.endBy(null);
			stopWatching(place);
		}
		String line = line(claim.lock());
		this.calls.sync(line);
		return this.calls.children(line).handle((children, failure) -> {
			if (failure != null) {
				return gone(cause(failure)) ? CompletableFuture.<Void>completedFuture(null)
						: CompletableFuture.<Void>failedFuture(cause(failure));
			}
			return deleteOwn(line, claim, PlaceName.line(children));
		}).thenCompose((deleted) -> deleted).thenRun(() -> this.places.remove(claim.owner()));
	}

	private CompletableFuture<Void> deleteOwn(String line, Claim claim, List<PlaceName> names) {
		List<CompletableFuture<?>> deletions = new ArrayList<>();
		for (PlaceName name : names) {
			if (name.owner().equals(owner(claim))) {
				deletions.add(this.calls.delete(line + "/" + name.name())
					.exceptionallyCompose((failure) -> gone(cause(failure)) ? CompletableFuture.completedFuture(null)
							: CompletableFuture.failedFuture(failure)));
			}
		}
		return CompletableFuture.allOf(deletions.toArray(CompletableFuture[]::new));
	}

	/**
	 * With the session all its nodes are gone, or will be before anybody can rely on
	 * them.
	 */
	private void stateChanged(CuratorFramework changed, ConnectionState state) {
		if (state == ConnectionState.LOST) {
			this.places.values().forEach((place) -> {
				place.revoked.complete(null);
				Place.Watch watch = place.watch(null);
				if (watch != null) {
					watch.signal().complete(null);
				}
			});
		}
	}

	/** Stop listening and planning. What is held ends with the client's session. */
	@Override
	public void close() {
		this.client.getConnectionStateListenable().removeListener(this.stateListener);
		this.timer.shutdownNow();
	}

	int remembered() {
		return this.places.size();
	}

	private String line(LockName lock) {
		return this.root + "/" + NOT_IN_A_PATH.matcher(lock.name()).replaceAll("_") + "-"
				+ LockDigest.of(this.namespace, lock);
	}

	private long session() {
		try {
			return this.client.getZookeeperClient().getZooKeeper().getSessionId();
		}
		catch (Exception ex) {
			return -1;
		}
	}

	/** What the server has granted, which may be less than was asked for. */
	private Duration sessionTime() {
		try {
			return Duration.ofMillis(this.client.getZookeeperClient().getZooKeeper().getSessionTimeout());
		}
		catch (Exception ex) {
			return Duration.ofMillis(this.client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
		}
	}

	private static String owner(Claim claim) {
		return claim.owner().value();
	}

	private static boolean gone(Throwable cause) {
		return cause instanceof KeeperException.NoNodeException || cause instanceof KeeperException.BadVersionException
				|| cause instanceof KeeperException.SessionExpiredException;
	}

	private static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

}
