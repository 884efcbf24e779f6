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
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * A small application that starts with the store given by its arguments, and exits. Its
 * exit code is zero if the startup succeeds.
 */
final class StartedApplication {

	private StartedApplication() {
	}

	public static void main(String[] args) {
		System.exit(SpringApplication
			.exit(new SpringApplicationBuilder(Locks.class).web(WebApplicationType.NONE).run(args)));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			EtcdLockAutoConfiguration.class, RedisLockAutoConfiguration.class, RedlockLockAutoConfiguration.class,
			ZooKeeperLockAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class })
	static class Locks {

		@Bean
		@ConditionalOnProperty("zookeeper")
		CuratorFramework zooKeeper(Environment environment) {
			return CuratorFrameworkFactory.newClient(environment.getRequiredProperty("zookeeper"),
					new RetryOneTime(100));
		}

	}

}
