package io.holdfast.lock.transaction;

import java.util.HashMap;
import java.util.Map;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.support.FinishedTransaction;

/**
 * Takes the connections and contexts of finished transactions off the thread until a
 * transaction of another manager, which runs in one of their callbacks, has completed.
 * Their managers could suspend them only together with that transaction.
 */
final class UnboundResources implements TransactionSynchronization {

	private final Map<Object, Object> resources = new HashMap<>(TransactionSynchronizationManager.getResourceMap());

	private UnboundResources() {
		this.resources.values().removeIf((resource) -> !FinishedTransaction.isOver(resource));
	}

	static void untilCurrentTransactionEnds() {
		UnboundResources unbound = new UnboundResources();
		TransactionSynchronizationManager.registerSynchronization(unbound);
		unbound.resources.keySet().forEach(TransactionSynchronizationManager::unbindResource);
	}

	/** After the callbacks that unbind what took the place of these resources. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public void afterCompletion(int status) {
		this.resources.forEach((key, resource) -> {
			if (!TransactionSynchronizationManager.hasResource(key)) {
				TransactionSynchronizationManager.bindResource(key, resource);
			}
		});
	}

}
