package io.holdfast.verification;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.exception.LockFailureException;
import com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration;
import com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.RedisLockAutoConfiguration;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a method can have the annotation of Holdfast and that of the library which
 * it replaces, until no instance has only the latter.
 */
class FormerAnnotationTests {

	@Test
	void methodHoldsBothLocksAndNoneAfterwards() {
		try (RedisServer redis = RedisServer.started()) {
			LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
			connections.afterPropertiesSet();
			connections.start();
			new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LockAutoConfiguration.class,
						RedisTemplateLockAutoConfiguration.class, DistributedLockAutoConfiguration.class,
						RedisLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
				.withPropertyValues("distributed-lock.redis.address=" + redis.address())
				.withBean(StringRedisTemplate.class, () -> new StringRedisTemplate(connections))
				.withBean(Former.class)
				.withBean(Sales.class)
				.run((context) -> {
					Former former = context.getBean(Former.class);
					LockOperations locks = context.getBean(LockOperations.class);
					List<Boolean> free = new ArrayList<>();
					context.getBean(Sales.class).sell(42, () -> free.addAll(free(former, locks)));
					assertThat(free).containsExactly(false, false);
					assertThat(free(former, locks)).containsExactly(true, true);
					// code that acquires both uses the same order
					assertThat(((Advised) context.getBean(Sales.class)).getAdvisors())
						.extracting((advisor) -> advisor.getAdvice().getClass().getSimpleName())
						.containsSubsequence("LockInterceptor", "DistributedLockInterceptor");
				});
			connections.destroy();
		}
	}

	/** Asks as instances of the versions that have only one of the locks. */
	private static List<Boolean> free(Former former, LockOperations locks) {
		return CompletableFuture.supplyAsync(() -> List.of(isFree(former), isFree(locks))).join();
	}

	private static boolean isFree(Former former) {
		try {
			former.sell(42);
			return true;
		}
		catch (LockFailureException ex) {
			return false;
		}
	}

	private static boolean isFree(LockOperations locks) {
		return locks.tryAcquire(LockRequest.of("stock", 42)).map((handle) -> {
			handle.close();
			return true;
		}).orElse(false);
	}

	static class Sales {

		@Lock4j(name = "stock", keys = "#productId")
		@DistributedLock(name = "stock", key = "#productId")
		public void sell(long productId, Runnable work) {
			assertThat(LockHandle.current()).isPresent();
			work.run();
		}

	}

	/** The version that has only the former lock. */
	static class Former {

		@Lock4j(name = "stock", keys = "#productId", acquireTimeout = 1)
		public void sell(long productId) {
		}

	}

}
