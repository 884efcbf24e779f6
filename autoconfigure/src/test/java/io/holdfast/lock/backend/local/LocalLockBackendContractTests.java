package io.holdfast.lock.backend.local;

import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.LockBackendContract;

// tag::contract[]
class LocalLockBackendContractTests extends LockBackendContract {

	private final LocalLockBackend store = new LocalLockBackend();

	@Override
	protected LockBackend backend() {
		return this.store;
	}

	/** Within one JVM every user of the store has the same client. */
	@Override
	protected LockBackend secondClient() {
		return this.store;
	}

	@Override
	protected Collection<String> leftovers() {
		return this.store.inUse().stream().map(LockName::toString).toList();
	}

	@Override
	protected Map<Ability, String> lacks() {
		Map<Ability, String> lacks = new EnumMap<>(Ability.class);
		lacks.put(Ability.LOST_REPLY, "there is no wire that could lose a reply");
		lacks.put(Ability.CUT_CONNECTION, "there is no connection");
		lacks.put(Ability.RESTART, "the store lives and dies with its users");
		lacks.put(Ability.PAUSE, "the store pauses only together with its users");
		lacks.put(Ability.KILLED_SESSION, "there is no session");
		return lacks;
	}

}
// end::contract[]
