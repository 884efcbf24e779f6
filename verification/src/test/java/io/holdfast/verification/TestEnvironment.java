package io.holdfast.verification;

import java.io.IOException;
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

	/**
	 * The wait time in other runs, in which no order should fail for the lack of time.
	 */
	private static final int LONG_WAIT_SECONDS = 25;

	private static final int PRODUCTS = 16;

	private final PostgresServer database = PostgresServer.started();

	private final StoreKit store;

	private final boolean allFaults;

	private final List<Participant> participants = new ArrayList<>();

	private final List<Long> products = LongStream.range(0, PRODUCTS).mapToObj((i) -> 1_000 + i).toList();

	/**
	 * Starts the environment.
	 * @param store the store
	 * @param fenced whether transactions are fenced
	 * @param mutation the deliberate defect
	 * @param allFaults whether all faults occur, so that wall clocks can be moved and
	 * orders wait no longer than the longest of the pauses
	 */
	TestEnvironment(String store, boolean fenced, Mutation mutation, boolean allFaults) {
		this.store = StoreKit.of(store);
		this.allFaults = allFaults;
		if (allFaults) {
			clocks().forEach(ServerProcess::ownWallClock);
			clocks().forEach(ServerProcess::restart);
		}
		IntStream.range(0, this.store.processes())
			.forEach((i) -> this.participants.add(participant(i, fenced, mutation)));
		this.participants.get(0).process().start();
		this.participants.forEach((participant) -> participant.process().start());
	}

	private Participant participant(int number, boolean fenced, Mutation mutation) {
		TcpProxy database = TcpProxy.to(this.database.port());
		List<TcpProxy> wires = this.store.wires();
		List<String> arguments = new ArrayList<>(List.of(
				// sends the text of every statement, so that the proxy can recognize it
				"--spring.datasource.url=jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0&socketTimeout=15"
					.formatted(database.port()),
				"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
				"--spring.datasource.hikari.connection-timeout=3000",
				"--distributed-lock.wait-time=" + (this.allFaults ? WAIT_SECONDS : LONG_WAIT_SECONDS) + "s",
				"--distributed-lock.fail-fast=false", "--distributed-lock.fencing.enabled=" + fenced));
		arguments.addAll(this.store.arguments(wires));
		arguments.addAll(mutation.arguments());
		arguments.add("--spring.main.sources=" + sources(mutation));
		SampleProcess process = new SampleProcess(arguments, true);
		if (this.allFaults) {
			process.ownWallClock();
		}
		return new Participant(number, process, database, wires);
	}

	private String sources(Mutation mutation) {
		List<Class<?>> sources = new ArrayList<>(List.of(TransactionRecorder.class));
		sources.addAll(this.store.sources());
		sources.addAll(mutation.sources());
		return sources.stream().map(Class::getName).collect(Collectors.joining(","));
	}

	void initializeStock() throws InterruptedException {
		for (long product : this.products) {
			Load.setStock(this.participants.get(0).process(), product, STOCK);
		}
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
			case "jdbc" -> List.of(this.database);
			case "etcd" -> List.of();
			default -> this.store.servers();
		};
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

	List<Long> products() {
		return this.products;
	}

	List<StockRecords> records() throws SQLException {
		List<StockRecords> records = new ArrayList<>();
		for (long product : this.products) {
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
