package io.holdfast.verification.benchmark;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.holdfast.verification.benchmark.GrowthBenchmark.Curve;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link GrowthReport}.
 */
class GrowthReportTests {

	private final GrowthReport report = new GrowthReport();

	@Test
	void tableShowsPairsShareOfTheLimitAndRequests() {
		this.report.add("redis", Curve.NODES, 3, List.of(round(4_000, 2_000)));
		this.report.add("redis", Curve.NODES, 5, List.of(round(1, 1), round(3_000, 1_000), round(9_000, 9_000)));
		assertThat(this.report.toMarkdown()).contains("| store | 3 | 5 | 7 |",
				"| redis | 2,000/s, × 0.50, 1.50 requests | 1,000/s, × 0.33, 3.00 requests |");
		assertThat(this.report.breaches()).isZero();
	}

	@Test
	void waitersHaveNoLimit() {
		this.report.addWaiters("redis", 100, new long[] { 3_000_000_000L, 1_000_000_000L, 2_000_000_000L }, 600);
		assertThat(this.report.toMarkdown()).contains("| redis | 50/s, 2.00 requests |");
		assertThat(this.report.toSvg()).contains("waiters for one lock").endsWith("</svg>\n");
	}

	private static Map<Library, RoundResult> round(long limit, long pairs) {
		return Map.of(Library.RAW, result(limit), Library.HOLDFAST, result(pairs));
	}

	private static RoundResult result(long pairs) {
		return new RoundResult(pairs, 1_000_000_000L, 0, pairs, pairs, 0, 0, 3_000);
	}

}
