package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.backend.FairEngineCases;
import io.holdfast.lock.backend.StickyEngineCases;
import io.holdfast.lock.backend.StickyInstance;

import static io.holdfast.lock.backend.StickyInstance.LONG;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines at one Redis server.
 */
class RedisStickyTests extends OneRedisServer implements StickyEngineCases, FairEngineCases {

	private static final Pattern SCRIPT_CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

	private static final int PAIRS = 1_000;

	private final StickyInstance one = StickyInstance.of(first, LONG);

	private final StickyInstance other = StickyInstance.of(second, Duration.ZERO);

	@Override
	@AfterEach
	void nothingIsLeftButTokens() {
		this.one.engine().close();
		this.other.engine().close();
		super.nothingIsLeftButTokens();
		assertThat(first.waiting()).isZero();
	}

	@Override
	public StickyInstance first() {
		return this.one;
	}

	@Override
	public StickyInstance second() {
		return this.other;
	}

	@Override
	public Collection<String> left() {
		return server.keys("*").stream().filter((key) -> !key.endsWith("}:token")).toList();
	}

	private static long scriptCalls() {
		Matcher calls = SCRIPT_CALLS.matcher(server.ask("info", "commandstats"));
		long sum = 0;
		while (calls.find()) {
			sum += Long.parseLong(calls.group(1));
		}
		return sum;
	}

	@Test
	void twoRequestsServeManyPairs() {
		assertThat(requestsOfPairs(this.one)).isEqualTo(2);
	}

	@Test
	void eachPairTakesTwoRequestsByDefault() {
		assertThat(requestsOfPairs(this.other)).isEqualTo(2 * PAIRS);
	}

	/** Counts the scripts, including the last release, which the engine awaits. */
	private static long requestsOfPairs(StickyInstance instance) {
		server.ask("config", "resetstat");
		for (int i = 0; i < PAIRS; i++) {
			instance.token();
		}
		instance.engine().close();
		return scriptCalls();
	}

	@Test
	void engineWithoutStickyLeasesDemandsThem() {
		FencingToken before = this.one.token();
		assertThat(this.other.token()).isGreaterThan(before);
		assertThat(this.one.token()).isGreaterThan(before);
	}

}
