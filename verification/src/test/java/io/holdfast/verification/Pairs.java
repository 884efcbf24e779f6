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
 * A process that acquires and releases locks and counts the pairs. It reads a workload a
 * line, runs it for a second and writes the pairs of that second. It uses the public API
 * alone, so that it runs on any version of the library.
 *
 * @see PairsBenchmark
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Pairs {

	/** What precedes each result, so that log lines are told apart. */
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
			// the parent has gone
		}
		System.exit(0);
	}

	/**
	 * Who wants which lock.
	 */
	enum Workload {

		/** One thread, a lock that nobody else wants. */
		UNCONTENDED(1, false),

		/** Eight threads, each with a lock of its own. */
		OWN_KEYS(8, false),

		/** Eight threads that want the same lock. */
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
