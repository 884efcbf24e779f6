package io.holdfast.lock.backend.zookeeper;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the heartbeats of {@link ProvingCalls}.
 */
class ProvingCallsTests {

	private static final String PATH = "/holdfast";

	private final ScriptedZooKeeper calls = new ScriptedZooKeeper(new ModelTree(), 1);

	private final ScriptedTimers timers = new ScriptedTimers();

	@Test
	void heartbeatsContinueAfterAnUnexpectedError() {
		new ProvingCalls(this.calls, this.timers, 0, PATH);
		this.calls.failNextCall(new NoClassDefFoundError("undeployed"));
		assertThatExceptionOfType(NoClassDefFoundError.class).as("for the log").isThrownBy(this.timers::run);
		this.calls.sent();
		this.timers.run();
		assertThat(this.calls.sent()).containsExactly("sync " + PATH);
	}

	@Test
	void heartbeatWithoutResponseDelaysTheNextOne() {
		this.calls.hold("sync");
		new ProvingCalls(this.calls, this.timers, 0, PATH);
		this.timers.run();
		assertThat(this.calls.sent()).hasSize(1);
		this.calls.next().carryOut().answer();
		this.timers.run();
		assertThat(this.calls.sent()).hasSize(1);
	}

}
