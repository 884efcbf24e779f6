package io.holdfast.lock.actuate;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.support.DurationText;

/**
 * Adds the backends and the default settings of locks to the application's info. Contains
 * no addresses, because this information is often public.
 */
public final class LockInfoContributor implements InfoContributor {

	private final LockBackends backends;

	private final Duration waitTime;

	private final Duration leaseTime;

	private final Duration sticky;

	private final @Nullable Boolean fenced;

	/**
	 * Creates the contributor.
	 * @param backends the backends
	 * @param waitTime the default wait time
	 * @param leaseTime the default lease time
	 * @param sticky the time for which leases stay after their last hold, or zero
	 * @param fenced whether transactions are fenced, or {@code null} if there are none
	 */
	public LockInfoContributor(LockBackends backends, Duration waitTime, Duration leaseTime, Duration sticky,
			@Nullable Boolean fenced) {
		this.backends = backends;
		this.waitTime = waitTime;
		this.leaseTime = leaseTime;
		this.sticky = sticky;
		this.fenced = fenced;
	}

	@Override
	public void contribute(Info.Builder builder) {
		Map<String, Object> locks = new LinkedHashMap<>();
		locks.put("defaultBackend", this.backends.defaultName());
		locks.put("backends", this.backends.inUse());
		locks.put("waitTime", DurationText.of(this.waitTime));
		locks.put("leaseTime", DurationText.of(this.leaseTime));
		if (!this.sticky.isZero()) {
			locks.put("sticky", DurationText.of(this.sticky));
		}
		if (this.fenced != null) {
			locks.put("fencing", this.fenced);
		}
		builder.withDetail("distributedLocks", locks);
	}

}
