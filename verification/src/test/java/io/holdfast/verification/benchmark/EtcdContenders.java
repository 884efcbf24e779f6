package io.holdfast.verification.benchmark;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;

/**
 * Locks of other libraries on etcd, and the limit.
 */
final class EtcdContenders {

	private static final int LEASE_SECONDS = 30;

	private EtcdContenders() {
	}

	private static Client client(int port) {
		return Client.builder().endpoints("http://127.0.0.1:" + port).build();
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	static Contender raw(int port) throws Exception {
		Client client = client(port);
		KV store = client.getKVClient();
		PutOption lease = PutOption.builder()
			.withLeaseId(client.getLeaseClient().grant(LEASE_SECONDS * 60).get().getID())
			.build();
		return new RawLimit(new RawLimit.Store() {

			@Override
			public boolean create(String key) throws Exception {
				ByteSequence name = bytes("raw/" + key);
				return store.txn()
					.If(new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
					.Then(Op.put(name, ByteSequence.EMPTY, lease))
					.commit()
					.get()
					.isSucceeded();
			}

			@Override
			public void delete(String key) throws Exception {
				store.delete(bytes("raw/" + key)).get();
			}

		});
	}

	/** Each acquisition has its own lease: locks of one lease do not exclude another. */
	static Contender jetcd(int port) {
		Client client = client(port);
		return (key, section) -> {
			long lease = client.getLeaseClient().grant(LEASE_SECONDS).get().getID();
			ByteSequence held = client.getLockClient()
				.lock(bytes("jetcd/" + key), lease)
				.get(Contender.WAIT_SECONDS, TimeUnit.SECONDS)
				.getKey();
			try {
				section.run();
			}
			finally {
				client.getLockClient().unlock(held).get();
				client.getLeaseClient().revoke(lease).get();
			}
		};
	}

}
