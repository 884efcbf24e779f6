package io.holdfast.lock.observation;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.observation.LockObservationDocumentation.HighCardinality;
import io.holdfast.lock.observation.LockObservationDocumentation.LowCardinality;

/**
 * The default names of the observations of locks, as in
 * {@link LockObservationDocumentation}. Applications may extend it.
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

	/** Creates the convention. */
	public DefaultLockObservationConvention() {
	}

	@Override
	public String getContextualName(LockObservationContext context) {
		return context.observed().getContextualName() + " " + context.lock().name();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return KeyValues.of(LowCardinality.BACKEND.withValue(context.backend()),
				orNone(LowCardinality.OUTCOME.asString(), context.outcome()));
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		KeyValue lock = HighCardinality.LOCK.withValue(context.lock().toString());
		FencingToken token = context.token();
		return (token != null) ? KeyValues.of(lock, HighCardinality.TOKEN.withValue(token.toString()))
				: KeyValues.of(lock);
	}

	private static KeyValue orNone(String key, @Nullable String value) {
		return KeyValue.of(key, (value != null) ? value : KeyValue.NONE_VALUE);
	}

}
