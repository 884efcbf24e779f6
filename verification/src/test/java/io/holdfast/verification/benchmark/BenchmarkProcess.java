package io.holdfast.verification.benchmark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;

/**
 * A process that uses one library on one store. It reads one command per line:
 * <ul>
 * <li>{@code run <ms>} and the words of {@link Work} runs it for that time and prints the
 * {@link RoundResult}</li>
 * <li>{@code hold} acquires the lock of workload {@code f}, and {@code free} releases it
 * and prints when that began</li>
 * <li>{@code wait} acquires the same lock and prints when that was done</li>
 * <li>{@code keys <count>} locks as many keys, each once, and prints the bytes that each
 * of them leaves in this process</li>
 * </ul>
 * Times are those of the machine's monotonic clock, which its processes share.
 */
final class BenchmarkProcess {

	/** The prefix of each result, which distinguishes it from log lines. */
	static final String RESULT = "@ ";

	/** The part of the keys that are locked before those that are measured. */
	static final int WARM_UP_SHARE = 10;

	private static final int COLLECTIONS = 5;

	/** The most waits of a thread that are kept in a round, a power of two. */
	private static final int MOST_WAITS = 1 << 17;

	private static final String KEY_OF_F = Workload.F.work.key(0);

	private final Contender contender;

	private final Exclusion exclusion;

	private final PrintStream out;

	private final BlockingQueue<Boolean> free = new ArrayBlockingQueue<>(1);

	private BenchmarkProcess(Contender contender, Exclusion exclusion, PrintStream out) {
		this.contender = contender;
		this.exclusion = exclusion;
		this.out = out;
	}

	/**
	 * Runs the process.
	 * @param arguments the library, the store, the ports, the URL of the database, and
	 * the file for marks, followed by the arguments of a Holdfast application
	 */
	public static void main(String[] arguments) throws Exception {
		Library library = Library.valueOf(arguments[0]);
		List<Integer> servers = arguments[2].isEmpty() ? List.of()
				: Stream.of(arguments[2].split(",")).map(Integer::valueOf).toList();
		Contender contender = library.isOurs()
				? HoldfastContender.start(library, Arrays.copyOfRange(arguments, 5, arguments.length))
				: library.connect(arguments[1], servers, arguments[3]);
		new BenchmarkProcess(contender, new Exclusion(Path.of(arguments[4])), System.out).serve();
		System.exit(0);
	}

	private void serve() throws Exception {
		print("ready");
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
		try {
			for (String line = commands.readLine(); line != null; line = commands.readLine()) {
				String[] words = line.split(" ");
				switch (words[0]) {
					case "run" ->
						print(run(Work.parse(Arrays.copyOfRange(words, 2, words.length)), Long.parseLong(words[1]))
							.toLine());
					case "hold" -> inBackground(this::hold);
					case "free" -> this.free.add(true);
					case "wait" -> inBackground(this::await);
					case "keys" -> print(Long.toString(bytesPerKey(Integer.parseInt(words[1]))));
					default -> throw new IllegalArgumentException(line);
				}
			}
		}
		catch (IOException ex) {
			// the parent process has ended
		}
	}

	private void print(String result) {
		this.out.println(RESULT + result);
	}

	private static void inBackground(Runnable work) {
		Thread thread = new Thread(work, "benchmark");
		thread.setDaemon(true);
		thread.start();
	}

	private void hold() {
		long[] releasedAt = new long[1];
		locked(KEY_OF_F, () -> {
			print("held");
			takeFree();
			releasedAt[0] = System.nanoTime();
		});
		print(Long.toString(releasedAt[0]));
	}

	private void takeFree() {
		try {
			this.free.take();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void await() {
		long[] acquiredAt = new long[1];
		locked(KEY_OF_F, () -> acquiredAt[0] = System.nanoTime());
		print(Long.toString(acquiredAt[0]));
	}

	private long bytesPerKey(int count) throws InterruptedException {
		lockEach("warm", count / WARM_UP_SHARE);
		long before = usedMemory();
		lockEach("key", count);
		return Math.max(0, usedMemory() - before) / count;
	}

	private void lockEach(String prefix, int count) {
		for (int i = 0; i < count; i++) {
			locked(prefix + i, () -> {
			});
		}
	}

	/** Waits for releases in progress, and for what a collection only enqueues. */
	private static long usedMemory() throws InterruptedException {
		long used = Long.MAX_VALUE;
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
			TimeUnit.MILLISECONDS.sleep(50);
			used = Math.min(used, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
		}
		return used;
	}

	private void locked(String key, Runnable section) {
		try {
			this.contender.locked(key, section);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private RoundResult run(Work work, long millis) throws InterruptedException {
		OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		long cpu = system.getProcessCpuTime();
		long start = System.nanoTime();
		long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
		List<Buyer> buyers = Stream.iterate(0, (number) -> number + 1)
			.limit(work.threads())
			.map((number) -> new Buyer(work, number, end))
			.toList();
		buyers.forEach(Thread::start);
		for (Buyer buyer : buyers) {
			buyer.join();
		}
		long[] waits = buyers.stream().flatMapToLong(Buyer::waits).sorted().toArray();
		return new RoundResult(buyers.stream().mapToLong((buyer) -> buyer.count).sum(), System.nanoTime() - start,
				system.getProcessCpuTime() - cpu, buyers.stream().mapToLong((buyer) -> buyer.count).min().orElse(0),
				buyers.stream().mapToLong((buyer) -> buyer.count).max().orElse(0),
				(waits.length > 0) ? waits[(int) (waits.length * 99L / 100)] : 0, this.exclusion.takeBreaches(), 0);
	}

	/**
	 * A thread that acquires and releases its lock until the end of the round, but at
	 * least once, also if it starts late.
	 */
	private final class Buyer extends Thread {

		private final Work work;

		private final int number;

		private final long end;

		/** The waits of every {@link #stride}th pair, so that they fit into memory. */
		private long[] waits = new long[1024];

		private int recorded;

		private int stride = 1;

		private int count;

		Buyer(Work work, int number, long end) {
			this.work = work;
			this.number = number;
			this.end = end;
		}

		@Override
		public void run() {
			String onlyKey = (this.work.locks() > this.work.threads()) ? null
					: this.work.key(this.work.lock(this.number, 0));
			long asked = System.nanoTime();
			do {
				long since = asked;
				int lock = this.work.lock(this.number, this.count);
				locked((onlyKey != null) ? onlyKey : this.work.key(lock), () -> {
					add(System.nanoTime() - since);
					BenchmarkProcess.this.exclusion.run(lock, this::buy);
				});
				asked = System.nanoTime();
			}
			while (asked < this.end);
		}

		private void buy() {
			if (this.work.sectionMillis() > 0) {
				long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.work.sectionMillis());
				for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
					LockSupport.parkNanos(left);
				}
			}
		}

		private void add(long wait) {
			if (this.count++ % this.stride != 0) {
				return;
			}
			if (this.recorded == MOST_WAITS) {
				this.recorded /= 2;
				for (int i = 0; i < this.recorded; i++) {
					this.waits[i] = this.waits[2 * i];
				}
				this.stride *= 2;
			}
			else if (this.recorded == this.waits.length) {
				this.waits = Arrays.copyOf(this.waits, 2 * this.recorded);
			}
			this.waits[this.recorded++] = wait;
		}

		LongStream waits() {
			return Arrays.stream(this.waits, 0, this.recorded);
		}

	}

}
