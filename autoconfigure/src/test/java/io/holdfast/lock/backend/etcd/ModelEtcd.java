package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.grpc.Status;

/**
 * A model of etcd that carries out one request after another, with revisions, leases and
 * watches as far as locks need them. {@link ModelEtcdTests} compares it with etcd.
 */
final class ModelEtcd {

	/**
	 * The shortest lease, in seconds. Like etcd, the model extends shorter leases to it.
	 */
	private static final long LEAST_SECONDS = 2;

	private final LongSupplier clock;

	private final Map<String, Entry> keys = new TreeMap<>();

	private final Map<Long, Lease> leases = new LinkedHashMap<>();

	private final Set<Watch> watches = new LinkedHashSet<>();

	private long revision = 1;

	/** A new etcd elects its first leader in this term. */
	private long term = 2;

	private long lastLease;

	ModelEtcd(LongSupplier clock) {
		this.clock = clock;
	}

	EtcdClient.GrantedLease grantLease(long seconds) {
		Lease lease = new Lease(++this.lastLease, Math.max(LEAST_SECONDS, seconds));
		this.leases.put(lease.id, lease);
		lease.restart(this.clock.getAsLong());
		return new EtcdClient.GrantedLease(lease.id, lease.seconds);
	}

	EtcdClient.RenewedLease keepAlive(long id) {
		Lease lease = lease(id);
		lease.restart(this.clock.getAsLong());
		return new EtcdClient.RenewedLease(lease.seconds, this.term);
	}

	long timeToLive(long id) {
		Lease lease = this.leases.get(id);
		return (lease != null) ? TimeUnit.NANOSECONDS.toSeconds(lease.expiresAt - this.clock.getAsLong()) : -1;
	}

	List<EtcdClient.LeasedKey> list(String prefix) {
		return this.keys.entrySet()
			.stream()
			.filter((key) -> key.getKey().startsWith(prefix))
			.map((key) -> new EtcdClient.LeasedKey(key.getKey(), key.getValue().created, key.getValue().value,
					key.getValue().lease))
			.sorted(Comparator.comparingLong(EtcdClient.LeasedKey::created))
			.toList();
	}

	void revoke(long id) {
		end(lease(id));
	}

	/** Ends expired leases. */
	void expire() {
		long now = this.clock.getAsLong();
		List.copyOf(this.leases.values()).stream().filter((lease) -> lease.expiresAt <= now).forEach(this::end);
	}

	/** Restarts all leases, as a new leader does. */
	void restartLeases() {
		this.term++;
		this.leases.values().forEach((lease) -> lease.restart(this.clock.getAsLong()));
	}

	Set<Long> leases() {
		return this.leases.keySet();
	}

	Collection<String> keys() {
		return this.keys.keySet();
	}

	/** Returns the values of all keys. */
	List<String> values() {
		return this.keys.values().stream().map(Entry::value).toList();
	}

	private Lease lease(long id) {
		Lease lease = this.leases.get(id);
		if (lease == null) {
			throw Status.NOT_FOUND.withDescription("etcdserver: requested lease not found").asRuntimeException();
		}
		return lease;
	}

	private void end(Lease lease) {
		this.leases.remove(lease.id);
		List<String> ended = this.keys.entrySet()
			.stream()
			.filter((key) -> key.getValue().lease == lease.id)
			.map(Map.Entry::getKey)
			.toList();
		if (!ended.isEmpty()) {
			this.revision++;
			ended.forEach(this::delete);
		}
	}

	EtcdTransaction.Answer commit(EtcdTransaction transaction) {
		boolean succeeded = transaction.conditions().stream().allMatch(this::isTrue);
		List<EtcdTransaction.Operation> operations = succeeded ? transaction.then() : transaction.otherwise();
		for (EtcdTransaction.Operation operation : operations) {
			if (operation instanceof EtcdTransaction.Put put && put.lease() != 0) {
				lease(put.lease());
			}
		}
		long next = this.revision + 1;
		List<List<EtcdTransaction.Key>> read = new ArrayList<>();
		for (EtcdTransaction.Operation operation : operations) {
			carryOut(operation, next, read);
		}
		return new EtcdTransaction.Answer(succeeded, this.revision, this.term, read);
	}

	private boolean isTrue(EtcdTransaction.Condition condition) {
		Entry entry = this.keys.get(condition.key());
		if (condition instanceof EtcdTransaction.Created created) {
			return created.revision() == ((entry != null) ? entry.created : 0);
		}
		if (condition instanceof EtcdTransaction.Written written) {
			return written.revision() == ((entry != null) ? entry.written : 0);
		}
		return entry != null && entry.value.equals(((EtcdTransaction.HasValue) condition).value());
	}

	private void carryOut(EtcdTransaction.Operation operation, long next, List<List<EtcdTransaction.Key>> read) {
		if (operation instanceof EtcdTransaction.Put put) {
			Entry before = this.keys.get(put.key());
			this.revision = next;
			this.keys.put(put.key(),
					new Entry((before != null) ? before.created : next, next, put.value(), put.lease()));
			watches(put.key()).stream().filter(Watch::all).forEach((watch) -> watch.listener.written(put.key(), next));
		}
		else if (operation instanceof EtcdTransaction.Delete delete) {
			if (this.keys.containsKey(delete.key())) {
				this.revision = next;
				delete(delete.key());
			}
		}
		else if (operation instanceof EtcdTransaction.Get get) {
			read.add(read(get.key()));
		}
		else if (operation instanceof EtcdTransaction.GetNewest newest) {
			read.add(newest(newest));
		}
	}

	private List<EtcdTransaction.Key> read(String key) {
		Entry entry = this.keys.get(key);
		return (entry != null) ? List.of(new EtcdTransaction.Key(key, entry.created, entry.written, entry.value))
				: List.of();
	}

	private List<EtcdTransaction.Key> newest(EtcdTransaction.GetNewest newest) {
		return this.keys.entrySet()
			.stream()
			.filter((key) -> key.getKey().startsWith(newest.prefix()))
			.map((key) -> new EtcdTransaction.Key(key.getKey(), key.getValue().created, key.getValue().written, ""))
			.filter((key) -> newest.until() == 0 || key.created() <= newest.until())
			.sorted(Comparator.comparingLong(EtcdTransaction.Key::created).reversed())
			.limit(newest.limit())
			.toList();
	}

	private void delete(String key) {
		this.keys.remove(key);
		watches(key).forEach((watch) -> watch.listener.deleted(key, this.revision));
	}

	/** Returns the watches of a key, in the order of their creation. */
	private List<Watch> watches(String key) {
		return this.watches.stream()
			.filter((watch) -> watch.all ? key.startsWith(watch.key) : key.equals(watch.key))
			.toList();
	}

	/**
	 * Watches a key for its deletion, or all keys with a prefix for any change.
	 * @param key the key or the prefix
	 * @param all whether it is a prefix
	 * @param listener notified at once that the watch is established
	 * @return a callback that ends the watch
	 */
	Runnable watch(String key, boolean all, EtcdClient.WatchListener listener) {
		Watch watch = new Watch(key, all, listener);
		this.watches.add(watch);
		listener.created(this.revision);
		return () -> this.watches.remove(watch);
	}

	private record Entry(long created, long written, String value, long lease) {
	}

	private record Watch(String key, boolean all, EtcdClient.WatchListener listener) {
	}

	private static final class Lease {

		private final long id;

		private final long seconds;

		private long expiresAt;

		Lease(long id, long seconds) {
			this.id = id;
			this.seconds = seconds;
		}

		void restart(long now) {
			this.expiresAt = now + TimeUnit.SECONDS.toNanos(this.seconds);
		}

	}

}
