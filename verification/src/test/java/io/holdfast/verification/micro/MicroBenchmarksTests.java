package io.holdfast.verification.micro;

import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.TimeValue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the microbenchmarks run. Their figures mean nothing here: a process that
 * shares its code with other tests is no place to measure.
 */
class MicroBenchmarksTests {

	@Test
	void everyBenchmarkRuns() throws RunnerException {
		assertThat(new Runner(MicroBenchmarks.options(".*")
			.forks(0)
			.warmupIterations(0)
			.measurementIterations(1)
			.measurementTime(TimeValue.milliseconds(10))
			.shouldFailOnError(true)
			.build()).run()).hasSize(13)
			.allSatisfy((result) -> assertThat(result.getSecondaryResults()).containsKey(ProcessorTimeProfiler.RESULT));
	}

}
