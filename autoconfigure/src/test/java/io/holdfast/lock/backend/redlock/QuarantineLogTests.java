package io.holdfast.lock.backend.redlock;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class QuarantineLogTests {

	private static final Duration LENGTH = Duration.ofSeconds(30);

	private final QuarantineLog log = new QuarantineLog(2);

	@Test
	void firstNodeAndTheOneThatLeavesNoMajorityAreWarnedOf(CapturedOutput output) {
		this.log.started("a:1", LENGTH);
		assertThat(output).containsOnlyOnce("WARN").contains("[a:1] remember nothing").doesNotContain("no majority,");
		this.log.started("b:1", LENGTH);
		this.log.started("b:1", LENGTH);
		assertThat(output).containsOnlyOnce("WARN");
		this.log.started("c:1", LENGTH);
		assertThat(output).contains("[a:1, b:1, c:1] remember nothing", "no majority, so no lock is granted");
	}

}
