package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Condition of {@link ConditionalOnLocksEnabled}. It binds the settings, as other boolean
 * settings are bound, instead of comparing their texts.
 */
final class OnLocksEnabledCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		MergedAnnotation<?> condition = metadata.getAnnotations().get(ConditionalOnLocksEnabled.class);
		String further = condition.getString("value");
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnLocksEnabled.class);
		Environment environment = context.getEnvironment();
		if (!areLocksEnabled(environment)) {
			return ConditionOutcome.noMatch(message.because("'distributed-lock.enabled' is false"));
		}
		if (StringUtils.hasText(further) && !isTrue(environment, further, condition.getBoolean("matchIfMissing"))) {
			return ConditionOutcome.noMatch(message.because("'distributed-lock.%s' is not true".formatted(further)));
		}
		return ConditionOutcome.match(message.because("nothing disables it"));
	}

	private static boolean isTrue(Environment environment, String setting, boolean byDefault) {
		return Binder.get(environment).bind("distributed-lock." + setting, Boolean.class).orElse(byDefault);
	}

	/** Whether locks are enabled, as they are by default. */
	static boolean areLocksEnabled(Environment environment) {
		return isTrue(environment, "enabled", true);
	}

	/**
	 * Matches if locks are disabled.
	 */
	static final class Negated implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return !areLocksEnabled(context.getEnvironment());
		}

	}

}
