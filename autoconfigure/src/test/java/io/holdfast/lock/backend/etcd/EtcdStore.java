package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.grpc.Status;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedNode;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The etcd backend on a model of etcd. Requests overtake each other, and etcd carries
 * some out late, after their client has timed out. It expires leases late, and a new
 * leader restarts all of them.
 */
public class EtcdStore implements SimulatedStore {

	private static final long RESPONSE_TIMEOUT = Duration.ofSeconds(1).toNanos();

	private static final long EXPIRY = Duration.ofMillis(500).toNanos();

	private final Simulation simulation;

	private final SimulatedNode server;

	private final ModelEtcd etcd;

	private final Map<SimulatedProcess, EtcdLockBackend> backends = new LinkedHashMap<>();

	private final List<Client> clients = new ArrayList<>();

	private boolean expiring;

	/**
	 * Creates an empty etcd.
	 * @param simulation the simulation
	 */
	public EtcdStore(Simulation simulation) {
		this.simulation = simulation;
		this.server = simulation.server("etcd");
		this.etcd = new ModelEtcd(this.server::nanos);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		Client client = new Client(process);
		this.clients.add(client);
		EtcdLockBackend backend = new EtcdLockBackend(client, "sim", "p" + process.number(), process, () -> {
		});
		this.backends.put(process, backend);
		return backend;
	}

	/** Expires leases regularly while leases exist. */
	private void expireRegularly() {
		if (!this.expiring) {
			this.expiring = true;
			this.server.after(EXPIRY, () -> {
				this.expiring = false;
				this.etcd.expire();
				if (!this.etcd.leases().isEmpty()) {
					expireRegularly();
				}
			});
		}
	}

	@Override
	public Collection<String> leftovers() {
		List<String> left = new ArrayList<>(this.etcd.keys());
		this.etcd.leases().forEach((lease) -> left.add("lease " + lease));
		this.backends.forEach((process, backend) -> {
			if (!process.killed()) {
				backend.queueNodes.remembered()
					.forEach((key) -> left.add("in the memory of %s: %s".formatted(process, key)));
			}
		});
		this.clients.stream()
			.filter((client) -> !client.process.killed())
			.forEach((client) -> client.watches
				.forEach((watch) -> left.add("watch of %s: %s".formatted(client.process, watch.key))));
		return left;
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("etcd pauses", this.server::pause, this.server::resume),
				new StoreFault("etcd has no leader", this.server::pause, () -> {
					this.server.resume();
					this.etcd.restartLeases();
				}));
	}

	/** Revokes all leases, as an operator can. */
	final void revokeAll() {
		List.copyOf(this.etcd.leases()).forEach(this.etcd::revoke);
	}

	/**
	 * Checks that a claim has no key once its end was confirmed, and never gets one
	 * again.
	 */
	private void checkKeys(SimulatedProcess process) {
		List<String> known = this.backends.get(process).queueNodes.remembered();
		String owner = new UUID(process.number(), 0).toString().substring(0, 18);
		this.etcd.values()
			.stream()
			.filter((key) -> key.startsWith(owner) && !known.contains(key) && !process.killed())
			.forEach((key) -> this.simulation.checks().fail(process, "forgotten", "", "left behind: " + key, null));
	}

	/** The client of one process. */
	private final class Client implements EtcdClient {

		private final SimulatedProcess process;

		private final SimulatedLink requests;

		private final SimulatedLink events;

		private final Set<Watch> watches = new LinkedHashSet<>();

		Client(SimulatedProcess process) {
			this.process = process;
			this.requests = new SimulatedLink(process, EtcdStore.this.server, SimulatedLink.Order.ANY);
			this.events = new SimulatedLink(process, EtcdStore.this.server, SimulatedLink.Order.IN_ORDER);
			this.events.onCut(() -> List.copyOf(this.watches).forEach(Watch::broken));
		}

		/**
		 * Sends a request with a deadline. After the deadline, etcd may still carry out
		 * the request.
		 */
		private <T> CompletableFuture<T> send(Supplier<T> request) {
			CompletableFuture<T> answer = new CompletableFuture<>();
			Runnable timer = this.process.after(RESPONSE_TIMEOUT, () -> {
				// other calls of this process may wait for the same response
				this.process.disturbedUntil(EtcdStore.this.simulation.now());
				answer
					.completeExceptionally(Status.DEADLINE_EXCEEDED.withDescription("no answer in time").asException());
			});
			this.requests.call(request).whenComplete((value, failure) -> {
				timer.run();
				if (failure != null) {
					answer.completeExceptionally(failure);
				}
				else {
					answer.complete(value);
				}
			});
			return answer;
		}

		@Override
		public CompletableFuture<GrantedLease> grantLease(long seconds) {
			return send(() -> {
				expireRegularly();
				return EtcdStore.this.etcd.grantLease(seconds);
			});
		}

		@Override
		public CompletableFuture<RenewedLease> keepAlive(long lease) {
			return send(() -> EtcdStore.this.etcd.keepAlive(lease));
		}

		@Override
		public CompletableFuture<Long> timeToLive(long lease) {
			return send(() -> EtcdStore.this.etcd.timeToLive(lease));
		}

		@Override
		public CompletableFuture<List<LeasedKey>> list(String prefix) {
			return send(() -> EtcdStore.this.etcd.list(prefix));
		}

		@Override
		public CompletableFuture<?> revoke(long lease) {
			return send(() -> {
				EtcdStore.this.etcd.revoke(lease);
				return true;
			});
		}

		/** Commits a transaction, which the client does not retry. */
		@Override
		public CompletableFuture<EtcdTransaction.Answer> commit(EtcdTransaction transaction) {
			AtomicBoolean carriedOut = new AtomicBoolean();
			return send(() -> {
				if (!carriedOut.compareAndSet(false, true)) {
					throw new IllegalStateException("a repetition that does not exist");
				}
				EtcdTransaction.Answer answer = EtcdStore.this.etcd.commit(transaction);
				EtcdStore.this.server.record("carries out " + transaction + ": " + answer);
				checkKeys(this.process);
				return answer;
			});
		}

		@Override
		public Runnable watch(String key, WatchListener listener) {
			return watch(key, false, listener);
		}

		@Override
		public Runnable watchAll(String prefix, WatchListener listener) {
			return watch(prefix, true, listener);
		}

		private Runnable watch(String key, boolean all, WatchListener listener) {
			Watch watch = new Watch(this, key, listener);
			this.watches.add(watch);
			this.events.call(() -> {
				watch.start(all);
				return true;
			});
			return watch::close;
		}

		@Override
		public boolean answersOn(Thread thread) {
			return false;
		}

		@Override
		public void close() {
			throw new UnsupportedOperationException("A process of the simulation does not close its backend");
		}

	}

	/** A watch of one client. Its notifications arrive in order. */
	private final class Watch implements EtcdClient.WatchListener {

		private final Client client;

		private final String key;

		private final EtcdClient.WatchListener listener;

		private @Nullable Runnable end;

		private boolean over;

		Watch(Client client, String key, EtcdClient.WatchListener listener) {
			this.client = client;
			this.key = key;
			this.listener = listener;
		}

		void start(boolean all) {
			if (!this.over) {
				this.end = EtcdStore.this.etcd.watch(this.key, all, this);
			}
		}

		@Override
		public void created(long revision) {
			push(() -> this.listener.created(revision));
		}

		@Override
		public void written(String key, long revision) {
			push(() -> this.listener.written(key, revision));
		}

		@Override
		public void deleted(String key, long revision) {
			push(() -> this.listener.deleted(key, revision));
		}

		private void push(Runnable notice) {
			this.client.events.push(() -> {
				if (!this.over) {
					notice.run();
				}
			});
		}

		@Override
		public void broken() {
			if (!this.over) {
				close();
				this.listener.broken();
			}
		}

		void close() {
			this.over = true;
			this.client.watches.remove(this);
			if (this.end != null) {
				this.end.run();
			}
		}

	}

}
