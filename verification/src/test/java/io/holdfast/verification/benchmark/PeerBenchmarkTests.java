package io.holdfast.verification.benchmark;

import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the benchmark runs, on the store that needs no server.
 */
class PeerBenchmarkTests {

	/** Optimizing code for figures that are not read takes half a minute. */
	private static final String WITHOUT_OPTIMIZATION = "-XX:TieredStopAtLevel=1";

	@Test
	void benchmarkComparesTheLibrariesOfAStore() throws Exception {
		BenchmarkReport report = PeerBenchmark.run(Pattern.compile("local/(a|c0|e)"), 1, 10, WITHOUT_OPTIMIZATION);
		assertThat(report.toMarkdown()).contains("| a | raw | 1.00 ", "| a | holdfast | ",
				"| c0 | holdfast_annotation | ", "| c0 | spring_integration | ", "## local, left by a key");
		assertThat(report.toSvg()).contains("local c0").endsWith("</svg>\n");
		assertThat(report.breaches()).isZero();
	}

}
