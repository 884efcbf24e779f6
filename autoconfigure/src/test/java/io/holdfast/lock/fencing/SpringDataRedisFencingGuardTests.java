package io.holdfast.lock.fencing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SpringDataRedisFencingGuardTests extends RedisFencingGuardContract {

	private static LettuceConnectionFactory factory;

	@BeforeAll
	static void connect() {
		factory = new LettuceConnectionFactory("127.0.0.1", server.port());
		factory.afterPropertiesSet();
		factory.start();
	}

	@AfterAll
	static void disconnect() {
		factory.destroy();
	}

	@Override
	FencingGuard guard(String key) {
		return new SpringDataRedisFencingGuard(factory, key, RedisFencingGuardContract::id);
	}

	@Override
	void write(FencingGuard guard, LockHandle hold, String value) {
		((SpringDataRedisFencingGuard) guard).write(hold, "data", value);
	}

	@Test
	void pipelineOfATemplateDoesNotDelayTheCheck() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 20, "b"));
		new StringRedisTemplate(factory).executePipelined((RedisCallback<?>) (connection) -> {
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> guard.advance(TestHold.of("42", 10, "a")));
			return null;
		});
	}

}
