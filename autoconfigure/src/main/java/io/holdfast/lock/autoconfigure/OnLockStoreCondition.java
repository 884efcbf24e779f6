package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.Assert;

/**
 * Condition of {@link ConditionalOnLockStore}, evaluated when the bean definitions of the
 * application are known.
 */
final class OnLockStoreCondition extends SpringBootCondition implements ConfigurationCondition {

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		LockStore store = metadata.getAnnotations().get(ConditionalOnLockStore.class).getEnum("value", LockStore.class);
		Assert.state(context.getBeanFactory() != null, "No bean factory");
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnLockStore.class, store.id());
		if (!store.isSupported(context.getClassLoader())) {
			return ConditionOutcome.noMatch(message.because("its client is not on the class path"));
		}
		String evidence = store.evidence(context.getEnvironment(), context.getBeanFactory());
		return (evidence != null) ? ConditionOutcome.match(message.because(evidence))
				: ConditionOutcome.noMatch(message.because("no property or client bean configures it"));
	}

}
