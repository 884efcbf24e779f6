package io.holdfast.verification;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.test.server.RedisSentinel;

/**
 * A client bean that finds Redis through a sentinel, as an application may define one.
 */
@Configuration(proxyBeanMethods = false)
class SentinelClient {

	@Bean(destroyMethod = "shutdown")
	RedissonClient redisson(@Value("${sentinel}") String address) {
		Config config = new Config();
		config.useSentinelServers()
			.setMasterName(RedisSentinel.MASTER)
			.setCheckSentinelsList(false)
			.setScanInterval(500)
			.setReadMode(ReadMode.MASTER)
			.addSentinelAddress(address);
		return Redisson.create(config);
	}

}
