package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.etcd.EtcdClient.LeasedKey;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.Stages;

/**
 * Answers the questions of operators about locks in etcd, and about etcd itself.
 *
 * @param calls sends the requests
 * @param keys the names of the keys
 * @param sessions the sessions of this JVM
 */
record EtcdLookup(EtcdCalls calls, EtcdKeys keys, Sessions sessions) {

	CompletionStage<LockState> find(LockName lock) {
		String prefix = this.keys.queue(lock);
		return this.calls.list(prefix).thenCompose((queue) -> {
			List<CompletableFuture<LockState.Holder>> holders = new ArrayList<>();
			for (LeasedKey key : queue) {
				String end = key.name().substring(prefix.length());
				LockMode mode = EtcdKeys.modeOf(end);
				if (!holders.isEmpty() && mode == LockMode.EXCLUSIVE) {
					break;
				}
				holders.add(holder(EtcdKeys.ownerOf(end, key.value()), mode, key));
				if (mode == LockMode.EXCLUSIVE) {
					break;
				}
			}
			return Stages.all(holders)
				.thenApply((found) -> new LockState(lock, EtcdLockBackend.NAME, found, queue.size() - found.size()));
		});
	}

	private CompletableFuture<LockState.Holder> holder(String owner, LockMode mode, LeasedKey key) {
		return this.calls.timeToLive(key.lease())
			.thenApply((seconds) -> new LockState.Holder(owner, mode, Grant.fencingTokenOf(key.created()),
					Duration.ofSeconds(Math.max(0, seconds))));
	}

	/**
	 * Deletes the key of a holder of any instance, if the holder still has it.
	 * @return whether a key was deleted
	 */
	CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		String prefix = this.keys.queue(lock);
		return this.calls.list(prefix)
			.thenCompose((queue) -> Stages.all(queue.stream()
				.filter((key) -> EtcdKeys.ownerOf(key.name().substring(prefix.length()), key.value())
					.equals(holder.ownerId()))
				.map((key) -> this.calls.delete(key.name(), key.created()))
				.toList()))
			.thenApply((deleted) -> deleted.contains(true));
	}

	CompletionStage<StoreStatus> status() {
		return this.calls.tryAccess()
			.thenApply((done) -> StoreStatus.available(Map.of("sessions", this.sessions.describe())));
	}

}
