package io.holdfast.verification;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * A process that acquires and releases locks and counts the pairs. It reads one workload
 * per line, runs it for a second and prints the number of pairs. It uses only the public
 * API, so that it runs on any version of the library.
 *
 * @see PairsBenchmark
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Pairs {

	/** The prefix of each result, which distinguishes it from log lines. */
	static final String RESULT = "pairs ";

	private static final long ROUND_NANOS = TimeUnit.SECONDS.toNanos(1);

	public static void main(String[] arguments) throws Exception {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Pairs.class)
			.web(WebApplicationType.NONE)
			.run(arguments)) {
			LockOperations locks = context.getBean(LockOperations.class);
			BufferedReader workloads = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
			System.out.println(RESULT + 0);
			for (String line = workloads.readLine(); line != null; line = workloads.readLine()) {
				System.out.println(RESULT + Workload.valueOf(line).run(locks));
			}
		}
		catch (IOException ex) {
			// the parent process has ended
		}
		System.exit(0);
	}

	/**
	 * The threads of a workload and their locks.
	 */
	enum Workload {

		/** One thread and an uncontended lock. */
		UNCONTENDED(1, false),

		/** Eight threads, each with its own lock. */
		OWN_KEYS(8, false),

		/** Eight threads that compete for one lock. */
		CONTENDED(8, true);

		private final int threads;

		private final boolean sameKey;

		Workload(int threads, boolean sameKey) {
			this.threads = threads;
			this.sameKey = sameKey;
		}

		long run(LockOperations locks) throws Exception {
			LongAdder pairs = new LongAdder();
			long end = System.nanoTime() + ROUND_NANOS;
			ExecutorService executor = Executors.newFixedThreadPool(this.threads);
			try {
				for (Future<?> thread : IntStream.range(0, this.threads)
					.mapToObj((i) -> executor.submit(() -> loop(locks, this.sameKey ? 0 : i, end, pairs)))
					.toList()) {
					thread.get();
				}
			}
			finally {
				executor.shutdown();
			}
			return pairs.sum();
		}

		private void loop(LockOperations locks, int key, long end, LongAdder pairs) {
			LockRequest request = LockRequest.of("pairs", name() + key);
			while (System.nanoTime() < end) {
				try (LockHandle handle = locks.acquire(request)) {
					handle.isHeld();
				}
				pairs.increment();
			}
		}

	}

}
