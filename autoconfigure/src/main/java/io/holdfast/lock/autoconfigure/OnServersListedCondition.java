package io.holdfast.lock.autoconfigure;

import java.util.Locale;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches where a store is the default one, or where its servers are listed.
 */
abstract class OnServersListedCondition extends SpringBootCondition {

	private final String store;

	private final String property;

	/**
	 * Create the condition.
	 * @param store the name of the store
	 * @param property the property that lists its servers
	 */
	OnServersListedCondition(String store, String property) {
		this.store = store;
		this.property = property;
	}

	@Override
	public final ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("lock store " + this.store);
		String backend = context.getEnvironment().getProperty("distributed-lock.backend", "");
		if (backend.trim().toLowerCase(Locale.ROOT).equals(this.store)) {
			return ConditionOutcome.match(message.because("it is the default store"));
		}
		if (Binder.get(context.getEnvironment()).bind(this.property, Bindable.listOf(String.class)).isBound()) {
			return ConditionOutcome.match(message.found("property").items(this.property));
		}
		return ConditionOutcome.noMatch(message.didNotFind("property").items(this.property));
	}

}
