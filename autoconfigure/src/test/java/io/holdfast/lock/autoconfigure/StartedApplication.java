package io.holdfast.lock.autoconfigure;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;

/**
 * A small application that starts with the store given by its arguments, and exits. Its
 * exit code is zero if the startup succeeds and a method runs with its lock.
 */
final class StartedApplication {

	private StartedApplication() {
	}

	public static void main(String[] args) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Locks.class).web(WebApplicationType.NONE)
			.run(args);
		boolean locked = context.getBean(Shop.class).sell(42);
		System.exit(SpringApplication.exit(context, () -> locked ? 0 : 1));
	}

	/** A bean with a locked method. */
	static class Shop {

		@DistributedLock(name = "stock", key = "#product")
		boolean sell(int product) {
			return LockHandle.current().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			EtcdLockAutoConfiguration.class, RedisLockAutoConfiguration.class, RedlockLockAutoConfiguration.class,
			ZooKeeperLockAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class })
	static class Locks {

		@Bean
		Shop shop() {
			return new Shop();
		}

		@Bean
		@ConditionalOnProperty("zookeeper")
		CuratorFramework zooKeeper(Environment environment) {
			return CuratorFrameworkFactory.newClient(environment.getRequiredProperty("zookeeper"),
					new RetryOneTime(100));
		}

	}

}
