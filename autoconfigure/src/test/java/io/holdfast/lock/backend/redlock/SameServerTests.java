package io.holdfast.lock.backend.redlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for two addresses that lead to one server after the start, as after a change of
 * DNS or a proxy.
 */
@ExtendWith(OutputCaptureExtension.class)
class SameServerTests extends FiveNodes {

	private final List<TcpProxy> proxies = new ArrayList<>();

	private RedlockLockBackend moved;

	@BeforeEach
	void connectThroughProxies() {
		for (int i = 0; i < 3; i++) {
			this.proxies.add(TcpProxy.to(port(i)));
		}
		this.moved = open(this.proxies.stream().map(TcpProxy::port).toList(), OPTIONS);
		TestNodes.connect(this.moved);
	}

	@AfterEach
	void closeProxies() {
		this.proxies.forEach(TcpProxy::close);
	}

	/** Lets the second address lead to the first server. */
	private void move() {
		this.proxies.get(1).redirectTo(port(0));
		this.proxies.get(1).cut();
		awaitStates(State.AVAILABLE, "up", "same server as " + address(0), "up");
	}

	private void awaitStates(State state, String... states) {
		Awaitility.await().atMost(BOUND).untilAsserted(() -> {
			StoreStatus status = get(this.moved.status());
			Map<?, ?> nodes = (Map<?, ?>) status.details().get("nodes");
			assertThat(nodes.values().stream().map(String::valueOf)).hasSameSizeAs(states);
			assertThat(nodes.values()
				.stream()
				.map(String::valueOf)
				.map((text) -> text.replace(address(1), address(0)))
				.sorted()).isEqualTo(List.of(states).stream().sorted().toList());
			assertThat(status.state()).isEqualTo(state);
		});
	}

	private String address(int index) {
		return "127.0.0.1:" + this.proxies.get(index).port();
	}

	@Slow
	@Test
	void serverAtTwoAddressesDoesNotAdmitASecondOwner() throws Exception {
		granted(open(List.of(port(1), port(2), freePort()), OPTIONS));
		move();
		for (int i = 0; i < 10; i++) {
			AcquireResult result = get(this.moved.tryAcquire(claim()));
			assertThat(result).isNotInstanceOf(Acquired.class);
		}
	}

	@Slow
	@Test
	void serverAtTwoAddressesRenewsOnce(CapturedOutput output) throws Exception {
		Grant grant = granted(this.moved);
		awaitParts(0, 1, 2);
		move();
		assertThat(renewed(this.moved, grant)).isInstanceOf(RenewResult.Renewed.class);
		kill(2);
		RenewResult result = get(this.moved.renew(List.of(grant))).get(0);
		assertThat(result).isInstanceOfSatisfying(RenewResult.Indeterminate.class,
				(unknown) -> assertThat(unknown.cause()).hasMessageContaining("is the same Redis as 127.0.0.1:")
					.hasMessageContaining("A server votes only once"));
		assertThat(output).containsOnlyOnce("are the same Redis (run id");
		awaitStates(State.UNAVAILABLE, "up", "same server as " + address(0), "silent");
	}

	@Test
	void grantOfSuchAServerIsNoHolder() throws Exception {
		nodes.get(0).ask("set", key("part"), claim().owner() + ":2:7", "px", "60000");
		move();
		assertThat(get(this.moved.find(this.lock)).isHeld()).isFalse();
	}

	@Test
	void otherNodesAreAMajority() throws Exception {
		move();
		Grant grant = granted(this.moved);
		get(this.moved.release(grant));
		awaitNothingLeft(0, 1, 2);
	}

	private void awaitParts(int... which) {
		for (int i : which) {
			Awaitility.await().until(() -> !nodes.get(i).keys(key("part")).isEmpty());
		}
	}

}
