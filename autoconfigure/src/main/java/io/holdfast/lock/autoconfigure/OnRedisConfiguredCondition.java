package io.holdfast.lock.autoconfigure;

import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches where somebody has said that there is a Redis. Its mere client on the class
 * path says nothing.
 */
final class OnRedisConfiguredCondition extends AnyNestedCondition {

	OnRedisConfiguredCondition() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnProperty(name = "distributed-lock.backend", havingValue = "redis")
	static final class ChosenAsDefault {

	}

	@ConditionalOnProperty("distributed-lock.redis.address")
	static final class AddressSet {

	}

	@ConditionalOnBean(RedissonClient.class)
	static final class ClientPresent {

	}

	@Conditional(OnSpringDataRedisCondition.class)
	static final class SpringDataRedisSet {

	}

	/**
	 * Boot assumes a Redis on this host when nothing is set; here something must be.
	 */
	static final class OnSpringDataRedisCondition extends SpringBootCondition {

		private static final String PREFIX = "spring.data.redis.";

		private static final String[] SINGLE = { "host", "url", "sentinel.master" };

		private static final String[] LISTS = { "cluster.nodes", "masterreplica.nodes" };

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			Binder binder = Binder.get(context.getEnvironment());
			ConditionMessage.Builder message = ConditionMessage.forCondition("Redis of the application");
			for (String name : SINGLE) {
				if (context.getEnvironment().containsProperty(PREFIX + name)) {
					return ConditionOutcome.match(message.found("property").items(PREFIX + name));
				}
			}
			for (String name : LISTS) {
				if (binder.bind(PREFIX + name, Bindable.listOf(String.class)).isBound()) {
					return ConditionOutcome.match(message.found("property").items(PREFIX + name));
				}
			}
			return ConditionOutcome.noMatch(message.because("no address is set under 'spring.data.redis'"));
		}

	}

}
