package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.grpc.StatusRuntimeException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.backend.etcd.EtcdTransaction.Created;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Delete;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Get;
import io.holdfast.lock.backend.etcd.EtcdTransaction.GetNewest;
import io.holdfast.lock.backend.etcd.EtcdTransaction.HasValue;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Operation;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Put;
import io.holdfast.lock.backend.etcd.EtcdTransaction.Written;
import io.holdfast.lock.test.server.EtcdServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the model of etcd with a real server. Both receive the same requests in the
 * same order, and report the same events. The time of the model does not advance, and no
 * real lease is short enough to expire.
 */
class ModelEtcdTests {

	private static final int REQUESTS = 400;

	private static final long UNKNOWN = 4_711;

	private final Random random = new Random(42);

	private final ModelEtcd model = new ModelEtcd(() -> 0);

	private final List<Long> leases = new ArrayList<>(List.of(UNKNOWN));

	private final List<Long> modelLeases = new ArrayList<>(List.of(UNKNOWN));

	private long revision = 1;

	@Test
	void modelAnswersAsEtcdDoes() throws Exception {
		try (EtcdServer server = EtcdServer.started();
				EtcdClient etcd = JetcdClient.create(Client.builder().endpoints(server.endpoint()), BOUND)) {
			Events events = new Events(new CopyOnWriteArrayList<>());
			Events modelled = new Events(new ArrayList<>());
			etcd.watchAll("x-", events);
			this.model.watch("x-", true, modelled);
			Awaitility.await().atMost(BOUND).until(() -> events.equals(modelled));
			for (int i = 0; i < REQUESTS; i++) {
				step(etcd, i);
			}
			Awaitility.await().atMost(BOUND).untilAsserted(() -> assertThat(events).isEqualTo(modelled));
			assertThat(events.seen()).hasSizeGreaterThan(REQUESTS / 10);
		}
	}

	private void step(EtcdClient etcd, int number) {
		int lease = this.random.nextInt(this.leases.size());
		switch (this.random.nextInt(20)) {
			case 0 -> grant(etcd);
			case 1 -> assertThat(outcome(() -> etcd.keepAlive(this.leases.get(lease)).join())).as("step " + number)
				.isEqualTo(outcome(() -> this.model.keepAlive(this.modelLeases.get(lease))));
			case 2 -> assertThat(outcome(() -> etcd.revoke(this.leases.get(lease)).thenApply((done) -> "done").join()))
				.as("step " + number)
				.isEqualTo(outcome(() -> {
					this.model.revoke(this.modelLeases.get(lease));
					return "done";
				}));
			default -> commit(etcd, lease, number);
		}
	}

	private void grant(EtcdClient etcd) {
		EtcdClient.GrantedLease granted = etcd.grantLease(600).join();
		EtcdClient.GrantedLease modelled = this.model.grantLease(600);
		assertThat(modelled.seconds()).isEqualTo(granted.seconds());
		this.leases.add(granted.id());
		this.modelLeases.add(modelled.id());
	}

	private void commit(EtcdClient etcd, int lease, int number) {
		long seed = this.random.nextLong();
		EtcdTransaction transaction = transaction(new Random(seed), this.leases.get(lease));
		EtcdTransaction modelled = transaction(new Random(seed), this.modelLeases.get(lease));
		Object answer = outcome(() -> etcd.commit(transaction).join());
		assertThat(outcome(() -> this.model.commit(modelled))).as("step %d: %s", number, transaction).isEqualTo(answer);
		if (answer instanceof EtcdTransaction.Answer known) {
			this.revision = known.revision();
		}
	}

	private EtcdTransaction transaction(Random choice, long lease) {
		return switch (choice.nextInt(6)) {
			case 0 -> new EtcdTransaction(List.of(new Created(key(choice), 0), new Written("s", revision(choice))),
					stand(choice, lease), List.of(new Get(key(choice))));
			case 1 -> new EtcdTransaction(List.of(new Created(key(choice), 0)), stand(choice, lease),
					List.of(new Get(key(choice))));
			case 2 -> EtcdTransaction.of(new Put("s", "", lease));
			case 3 -> new EtcdTransaction(List.of(new Created(key(choice), revision(choice))),
					List.of(new Delete(key(choice))), List.of(new Delete(key(choice)), new Get(key(choice))));
			case 4 -> deleteByValue(key(choice), value(choice));
			default -> EtcdTransaction.of(new Get(key(choice)), new GetNewest("x-", 2, revision(choice)));
		};
	}

	private static List<Operation> stand(Random choice, long lease) {
		return List.of(new Put(key(choice), value(choice), lease), new GetNewest("x-", 2, 0));
	}

	private static EtcdTransaction deleteByValue(String key, String value) {
		return new EtcdTransaction(List.of(new HasValue(key, value)), List.of(new Get(key), new Delete(key)),
				List.of());
	}

	private static String value(Random choice) {
		return (choice.nextInt(3) > 0) ? "owner-" + choice.nextInt(2) : "";
	}

	private static String key(Random choice) {
		return "x-" + choice.nextInt(6);
	}

	private long revision(Random choice) {
		return Math.max(0, this.revision - choice.nextInt(6));
	}

	/** Returns the response, or a text if the lease does not exist. */
	private static Object outcome(Supplier<Object> request) {
		try {
			return request.get();
		}
		catch (CompletionException | StatusRuntimeException ex) {
			assertThat(EtcdErrors.isLeaseGone(ex)).as(String.valueOf(ex)).isTrue();
			return "no such lease";
		}
	}

	/**
	 * The events of a watch, in their order.
	 *
	 * @param seen the events
	 */
	private record Events(List<String> seen) implements EtcdClient.WatchListener {

		@Override
		public void created(long revision) {
			this.seen.add("created");
		}

		@Override
		public void written(String key, long revision) {
			this.seen.add("written " + key);
		}

		@Override
		public void deleted(String key, long revision) {
			this.seen.add("deleted " + key);
		}

		@Override
		public void broken() {
			this.seen.add("broken");
		}

	}

}
