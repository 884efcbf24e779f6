package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the libraries of one store side by side. Every round runs each library once,
 * beginning with another one each time, so that a disturbance affects all of them alike.
 */
final class Comparison implements AutoCloseable {

	private static final int WAIT_MILLIS = 20;

	private static final int HANDOVERS_PER_ROUND = 15;

	private static final int KEYS = 5_000;

	private final Servers servers;

	private final Path marks;

	private final Map<Library, List<BenchmarkChild>> children = new EnumMap<>(Library.class);

	/**
	 * Starts the servers and the processes.
	 * @param servers the servers, which this comparison closes
	 * @param libraries the libraries
	 * @param processes the number of processes of each library
	 */
	Comparison(Servers servers, List<Library> libraries, int processes) throws IOException {
		this(servers, libraries, processes, BenchmarkChild.COMPILE_EARLY);
	}

	/**
	 * Starts the servers and the processes.
	 * @param servers the servers, which this comparison closes
	 * @param libraries the libraries
	 * @param processes the number of processes of each library
	 * @param compilation the JVM option that says how the processes compile
	 */
	Comparison(Servers servers, List<Library> libraries, int processes, String compilation) throws IOException {
		this.servers = servers;
		this.marks = Files.createTempFile("benchmark", ".marks");
		for (Library library : libraries) {
			this.children.put(library, new ArrayList<>());
		}
		for (int i = 0; i < processes; i++) {
			startOneOfEach(compilation);
		}
	}

	/**
	 * Starts a process of each library at the same time. Those of one library would meet
	 * while they create its tables.
	 */
	private void startOneOfEach(String compilation) throws IOException {
		List<BenchmarkChild> started = new ArrayList<>();
		for (Map.Entry<Library, List<BenchmarkChild>> library : this.children.entrySet()) {
			BenchmarkChild child = new BenchmarkChild(library.getKey(), this.servers, this.marks, compilation);
			library.getValue().add(child);
			started.add(child);
		}
		for (BenchmarkChild child : started) {
			child.result();
		}
	}

	/** Runs one round of all libraries. */
	Map<Library, RoundResult> round(Workload workload, int number, long millis)
			throws IOException, InterruptedException {
		return (workload == Workload.F) ? round(number, this::handOver)
				: round(workload.work, workload.processes, number, millis);
	}

	/** Runs one round of all libraries, each in several processes. */
	Map<Library, RoundResult> round(Work work, int processes, int number, long millis)
			throws IOException, InterruptedException {
		return round(number, (library) -> run(library, work, processes, millis));
	}

	private Map<Library, RoundResult> round(int number, Measurement measurement)
			throws IOException, InterruptedException {
		List<Library> order = new ArrayList<>(this.children.keySet());
		Map<Library, RoundResult> results = new EnumMap<>(Library.class);
		for (int i = 0; i < order.size(); i++) {
			Library library = order.get((i + number) % order.size());
			results.put(library, measurement.of(library));
		}
		return results;
	}

	private RoundResult run(Library library, Work work, int count, long millis) throws IOException {
		List<BenchmarkChild> processes = children(library).subList(0, count);
		long before = this.servers.requests();
		processes.forEach((process) -> process.send("run %d %s".formatted(millis, work.toWords())));
		List<RoundResult> results = new ArrayList<>();
		for (BenchmarkChild process : processes) {
			results.add(RoundResult.parse(process.result()));
		}
		return RoundResult.of(results).withRequests(this.servers.requests() - before);
	}

	/** Measures what many keys leave behind, each locked once. */
	Map<Library, Footprint> footprints() throws IOException {
		Map<Library, Footprint> footprints = new EnumMap<>(Library.class);
		for (Library library : this.children.keySet()) {
			long before = this.servers.keys();
			BenchmarkChild process = children(library).get(0);
			process.send("keys " + KEYS);
			long bytes = Long.parseLong(process.result());
			footprints.put(library, new Footprint(bytes,
					(double) (this.servers.keys() - before) / (KEYS + KEYS / BenchmarkProcess.WARM_UP_SHARE)));
		}
		return footprints;
	}

	/** Measures one library in one round. */
	private interface Measurement {

		RoundResult of(Library library) throws IOException, InterruptedException;

	}

	/**
	 * What a key leaves behind that was locked once.
	 *
	 * @param bytes the memory in the process
	 * @param keysInStore the keys, nodes or rows in the store
	 */
	record Footprint(long bytes, double keysInStore) {

	}

	/**
	 * Measures how long a lock takes from one process to the other. The result counts one
	 * pair in that time.
	 */
	private RoundResult handOver(Library library) throws IOException, InterruptedException {
		BenchmarkChild holder = children(library).get(0);
		BenchmarkChild waiter = children(library).get(1);
		List<Long> latencies = new ArrayList<>();
		for (int i = 0; i < HANDOVERS_PER_ROUND; i++) {
			holder.send("hold");
			holder.result();
			waiter.send("wait");
			TimeUnit.MILLISECONDS.sleep(WAIT_MILLIS);
			holder.send("free");
			// first that of the waiter: reading the other one would use a processor
			// meanwhile
			long acquired = Long.parseLong(waiter.result());
			latencies.add(acquired - Long.parseLong(holder.result()));
		}
		long median = latencies.stream().sorted().toList().get(HANDOVERS_PER_ROUND / 2);
		return RoundResult.ofPair(median);
	}

	private List<BenchmarkChild> children(Library library) {
		return this.children.getOrDefault(library, List.of());
	}

	@Override
	public void close() throws IOException {
		this.children.values().forEach((all) -> all.forEach(BenchmarkChild::close));
		this.servers.close();
		Files.delete(this.marks);
	}

}
