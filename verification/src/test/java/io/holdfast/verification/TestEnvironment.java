package io.holdfast.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

/**
 * The environment of a run: a database, the servers of one store, and processes of the
 * sample application that connect to both through their own proxies.
 */
final class TestEnvironment implements AutoCloseable {

	static final int STOCK = 100_000_000;

	/** The wait time of an order for its lock in runs of all faults. */
	static final int WAIT_SECONDS = 4;

	private final PostgresServer database = PostgresServer.started();

	private final StoreKit store;

	private final Purpose purpose;

	private final List<Participant> participants = new ArrayList<>();

	private long nextProduct = 1_000;

	/**
	 * Starts the environment.
	 * @param store the store
	 * @param fenced whether transactions are fenced
	 * @param purpose what happens to it
	 * @param arguments further arguments of each process
	 */
	TestEnvironment(String store, boolean fenced, Purpose purpose, String... arguments) {
		this.store = StoreKit.of(store);
		this.purpose = purpose;
		if (purpose == Purpose.ALL_FAULTS) {
			clocks().forEach(ServerProcess::ownWallClock);
			clocks().forEach(ServerProcess::restart);
		}
		IntStream.range(0, this.store.processes())
			.forEach((i) -> this.participants.add(participant(i, fenced, arguments)));
		this.participants.get(0).process().start();
		this.participants.forEach((participant) -> participant.process().start());
	}

	private Participant participant(int number, boolean fenced, String... further) {
		TcpProxy database = TcpProxy.to(this.database.port());
		List<TcpProxy> wires = this.store.wires();
		List<String> arguments = new ArrayList<>(List.of(
				// sends the text of every statement, so that the proxy can recognize it
				"--spring.datasource.url=jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0&socketTimeout=15"
					.formatted(database.port()),
				"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
				"--spring.datasource.hikari.connection-timeout=3000",
				"--distributed-lock.wait-time=" + this.purpose.waitSeconds + "s", "--distributed-lock.fail-fast=false",
				"--distributed-lock.fencing.enabled=" + fenced));
		arguments.addAll(this.store.arguments(wires));
		arguments.addAll(List.of(further));
		arguments.add("--spring.main.sources=" + sources());
		SampleProcess process = new SampleProcess(arguments, true);
		if (this.purpose == Purpose.ALL_FAULTS) {
			process.ownWallClock();
		}
		return new Participant(number, process, database, wires);
	}

	private String sources() {
		List<Class<?>> sources = new ArrayList<>(List.of(TransactionRecorder.class));
		sources.addAll(this.store.sources());
		if (this.purpose == Purpose.MUTATIONS) {
			sources.add(Mutations.class);
		}
		return sources.stream().map(Class::getName).collect(Collectors.joining(","));
	}

	/** Creates products with stock that no order has touched. */
	List<Long> newProducts(int count) throws InterruptedException {
		List<Long> products = LongStream.range(this.nextProduct, this.nextProduct + count).boxed().toList();
		this.nextProduct += count;
		for (long product : products) {
			Load.setStock(this.participants.get(0).process(), product, STOCK);
		}
		return products;
	}

	/** Gives every process this defect, and no other one. */
	void mutate(Mutation mutation) throws IOException, InterruptedException {
		for (SampleProcess process : processes()) {
			Load.put(process, Mutations.PATH + mutation);
		}
	}

	/**
	 * The pause between two orders of a buyer, so that processors are not always busy.
	 */
	int pauseMillis() {
		return this.purpose.pauseMillis;
	}

	PostgresServer database() {
		return this.database;
	}

	/** Returns an actor with another process. */
	Participant otherThan(Participant participant) {
		return this.participants.get((participant.number() + 1) % this.participants.size());
	}

	StoreKit store() {
		return this.store;
	}

	/** Returns the servers whose clocks the store uses, if those clocks can be moved. */
	List<? extends ServerProcess> clocks() {
		return switch (this.store.name()) {
			case "jdbc", "jdbc-advisory" -> List.of(this.database);
			case "etcd" -> List.of();
			default -> this.store.servers();
		};
	}

	/** Deletes what the processes have recorded about holders. */
	void forgetHolders() throws IOException {
		for (SampleProcess process : processes()) {
			Files.deleteIfExists(process.directory().resolve(TransactionRecorder.FILE));
		}
	}

	/** Returns the records of all processes. */
	Holders holders() throws IOException {
		Holders holders = new Holders();
		for (Participant participant : this.participants) {
			holders.add(participant.number(), participant.process().directory());
		}
		return holders;
	}

	List<Participant> participants() {
		return this.participants;
	}

	List<SampleProcess> processes() {
		return this.participants.stream().map(Participant::process).toList();
	}

	List<StockRecords> records(List<Long> products) throws SQLException {
		List<StockRecords> records = new ArrayList<>();
		for (long product : products) {
			records.add(StockRecords.of(this.database.jdbcUrl(), product));
		}
		return records;
	}

	@Override
	public void close() {
		this.participants.forEach((participant) -> participant.process().close());
		this.participants.forEach((participant) -> participant.wires().forEach(TcpProxy::close));
		this.participants.forEach((participant) -> participant.database().close());
		this.store.close();
		this.database.close();
	}

	/** What happens to an environment. */
	enum Purpose {

		/** Some faults. No order fails for the lack of time. */
		SOME_FAULTS(25, 400),

		/**
		 * All faults, so wall clocks can be moved, and orders wait no longer than the
		 * longest of the pauses.
		 */
		ALL_FAULTS(WAIT_SECONDS, 40),

		/** Some faults, in processes that {@link Mutation mutations} break. */
		MUTATIONS(25, 150);

		private final int waitSeconds;

		private final int pauseMillis;

		Purpose(int waitSeconds, int pauseMillis) {
			this.waitSeconds = waitSeconds;
			this.pauseMillis = pauseMillis;
		}

	}

	/**
	 * One process and its proxies.
	 *
	 * @param number the number
	 * @param process the process
	 * @param database the proxy to the database
	 * @param wires the proxies to the store
	 */
	record Participant(int number, SampleProcess process, TcpProxy database, List<TcpProxy> wires) {
	}

}
