package io.holdfast.lock.autoconfigure;

import java.util.Locale;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.holdfast.lock.backend.redlock.RedlockLockBackend;

/**
 * Matches where Redlock is the default store or has nodes.
 */
final class OnRedlockConfiguredCondition extends SpringBootCondition {

	private static final String NODES = "distributed-lock.redlock.nodes";

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Redlock");
		String backend = context.getEnvironment().getProperty("distributed-lock.backend", "");
		if (backend.trim().toLowerCase(Locale.ROOT).equals(RedlockLockBackend.NAME)) {
			return ConditionOutcome.match(message.because("it is the default store"));
		}
		if (Binder.get(context.getEnvironment()).bind(NODES, Bindable.listOf(String.class)).isBound()) {
			return ConditionOutcome.match(message.found("property").items(NODES));
		}
		return ConditionOutcome.noMatch(message.didNotFind("property").items(NODES));
	}

}
