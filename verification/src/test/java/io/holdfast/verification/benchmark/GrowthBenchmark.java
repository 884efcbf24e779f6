package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures how this library and the limit of each store grow with what is asked of them.
 * It is not part of the build and is run by name, with these system properties:
 * <ul>
 * <li>{@code benchmark}: a regular expression for {@code store/curve}; all by
 * default</li>
 * <li>{@code benchmark.rounds}: the number of rounds, 3 by default</li>
 * <li>{@code benchmark.millis}: the length of a round, 500 by default</li>
 * </ul>
 * It writes {@code growth.md} and {@code growth.svg} to {@code target/benchmark}.
 */
class GrowthBenchmark {

	private static final List<String> STORES = List.of("local", "redis", "redlock", "zookeeper", "etcd", "jdbc");

	private static final List<Library> LIBRARIES = List.of(Library.RAW, Library.HOLDFAST);

	private static final int WARM_UP_ROUNDS = 30;

	private static final int REDLOCK_NODES = 5;

	private static final Path DIRECTORY = Path.of("target", "benchmark");

	private final Pattern wanted = Pattern.compile(System.getProperty("benchmark", ".*"));

	private final int rounds = Integer.getInteger("benchmark.rounds", 3);

	private final long millis = Long.getLong("benchmark.millis", 500);

	private final GrowthReport report = new GrowthReport();

	@Test
	void measure() throws Exception {
		Files.createDirectories(DIRECTORY);
		for (String store : STORES) {
			grow(store, Curve.THREADS, Curve.KEYS, Curve.PROCESSES);
			if (store.equals("redlock")) {
				for (int nodes : Curve.NODES.sizes) {
					grow(new Servers(store, nodes), Curve.NODES, nodes);
				}
			}
			if (isWanted(store, Curve.WAITERS)) {
				WaitersBenchmark.measure(store, waiters(store), this.report);
				write();
			}
		}
		assertThat(this.report.toMarkdown()).as("the stores and curves that match '%s'", this.wanted).isNotEmpty();
		assertThat(this.report.breaches()).isZero();
	}

	/** At most 10,000 asynchronous callers use a database, with the holder. */
	private static int[] waiters(String store) {
		int[] sizes = Curve.WAITERS.sizes;
		return store.equals("jdbc") ? Arrays.copyOf(sizes, sizes.length - 1) : sizes;
	}

	private void grow(String store, Curve... curves) throws IOException, InterruptedException {
		for (Curve curve : curves) {
			if (curve.appliesTo(store)) {
				grow(new Servers(store, REDLOCK_NODES), curve, curve.sizes);
			}
		}
	}

	private void grow(Servers servers, Curve curve, int... sizes) throws IOException, InterruptedException {
		if (!isWanted(servers.store(), curve)) {
			servers.close();
			return;
		}
		int processes = 1;
		for (int size : sizes) {
			processes = Math.max(processes, curve.processes(size));
		}
		try (Comparison comparison = new Comparison(servers, LIBRARIES, processes)) {
			comparison.round(curve.work(sizes[0]), processes, 0, WARM_UP_ROUNDS * this.millis);
			for (int size : sizes) {
				List<Map<Library, RoundResult>> results = new ArrayList<>();
				comparison.round(curve.work(size), curve.processes(size), 0, 2 * this.millis);
				for (int number = 1; number <= this.rounds; number++) {
					results.add(comparison.round(curve.work(size), curve.processes(size), number, this.millis));
				}
				this.report.add(servers.store(), curve, size, results);
			}
		}
		write();
	}

	private boolean isWanted(String store, Curve curve) {
		return this.wanted.matcher(store + "/" + curve.text).matches();
	}

	private void write() throws IOException {
		Files.writeString(DIRECTORY.resolve("growth.md"), this.report.toMarkdown());
		Files.writeString(DIRECTORY.resolve("growth.svg"), this.report.toSvg());
	}

	/**
	 * What grows.
	 */
	enum Curve {

		/** Threads, each with its own lock. */
		THREADS("threads", "threads, each with its own lock", 1, 4, 16, 64) {
			@Override
			Work work(int size) {
				return new Work(this.text, size, size, 0);
			}
		},

		/** Locks that 16 threads use in turn, each its own share of them. */
		KEYS("keys", "keys, used in turn by 16 threads", 16, 256, 4_096, 100_000) {
			@Override
			Work work(int size) {
				return new Work(this.text, 16, size, 0);
			}
		},

		/** Processes of four threads that compete for one lock. */
		PROCESSES("processes", "processes of 4 threads, one lock", 1, 2, 4, 8) {
			@Override
			Work work(int size) {
				return new Work(this.text, 4, 1, 0);
			}

			@Override
			int processes(int size) {
				return size;
			}

			@Override
			boolean appliesTo(String store) {
				return Workload.D0.appliesTo(store);
			}
		},

		/** Nodes of Redlock, with 16 threads, each with its own lock. */
		NODES("nodes", "nodes of Redlock, 16 threads", 3, 5, 7) {
			@Override
			Work work(int size) {
				return new Work(this.text, 16, 16, 0);
			}
		},

		/** Callers of one process that wait for one lock. */
		WAITERS("waiters", "waiters for one lock in one process", 1, 10, 100, 1_000, 10_000) {
			@Override
			Work work(int size) {
				throw new UnsupportedOperationException("Waiters are measured in this process");
			}
		};

		final String text;

		final String meaning;

		final int[] sizes;

		Curve(String text, String meaning, int... sizes) {
			this.text = text;
			this.meaning = meaning;
			this.sizes = sizes;
		}

		abstract Work work(int size);

		int processes(int size) {
			return 1;
		}

		boolean appliesTo(String store) {
			return true;
		}

	}

}
