package io.holdfast.lock.fencing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.holdfast.lock.LockHandle;

class RedisFencingGuardTests extends RedisFencingGuardContract {

	private static RedissonClient client;

	@BeforeAll
	static void connect() {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(2);
		config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
		client = Redisson.create(config);
	}

	@AfterAll
	static void disconnect() {
		client.shutdown();
	}

	@Override
	FencingGuard guard(String key) {
		return new RedisFencingGuard(client, key, RedisFencingGuardContract::id);
	}

	@Override
	void write(FencingGuard guard, LockHandle hold, String value) {
		((RedisFencingGuard) guard).write(hold, "data", value);
	}

}
