package io.holdfast.verification.micro;

import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;

import com.sun.management.OperatingSystemMXBean;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Measures the processor time of the whole process for each operation, which includes the
 * collector of garbage. Unlike the elapsed time, it hardly depends on what else runs on
 * the machine.
 */
public final class ProcessorTimeProfiler implements InternalProfiler {

	/** The name of the result. */
	static final String RESULT = "cpu.time.norm";

	private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

	private long before;

	@Override
	public String getDescription() {
		return "processor time of the process for each operation";
	}

	@Override
	public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
		this.before = this.system.getProcessCpuTime();
	}

	@Override
	public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
			IterationResult result) {
		double used = this.system.getProcessCpuTime() - this.before;
		return List
			.of(new ScalarResult(RESULT, used / result.getMetadata().getAllOps(), "ns/op", AggregationPolicy.AVG));
	}

}
