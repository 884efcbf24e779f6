package io.holdfast.lock.test.simulation;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A connection between a client and a server. Requests run on the server, and responses
 * are delivered on the client. A lost message gets no response, so clients need their own
 * timeouts.
 */
public final class SimulatedLink {

	private static final int MOST_NOTICE = 50_000_000;

	private final SimulatedNode client;

	private final SimulatedNode server;

	private final Order order;

	private final Set<CompletableFuture<?>> unanswered = new LinkedHashSet<>();

	private final List<Runnable> onCut = new ArrayList<>();

	private Direction requests;

	private Direction answers;

	/**
	 * Creates a link.
	 * @param client the node that sends requests
	 * @param server the node that answers them
	 * @param order whether messages can overtake each other
	 */
	public SimulatedLink(SimulatedNode client, SimulatedNode server, Order order) {
		this.client = client;
		this.server = server;
		this.order = order;
		this.requests = new Direction(client, server);
		this.answers = new Direction(server, client);
	}

	/**
	 * Sends a request that the server answers immediately.
	 * @param <T> the type of the response
	 * @param request runs on the server
	 * @return a future that completes on the client if the response arrives. Fails with
	 * the exception of the request, or when this link is cut
	 */
	public <T extends @Nullable Object> CompletableFuture<T> call(Supplier<T> request) {
		return send(() -> CompletableFuture.completedFuture(request.get()));
	}

	/**
	 * Sends a request that the server answers later.
	 * @param <T> the type of the response
	 * @param request runs on the server, and its stage completes there
	 * @return a future that completes on the client if the response arrives. Fails with
	 * the exception of the request, or when this link is cut
	 */
	public <T extends @Nullable Object> CompletableFuture<T> send(Supplier<? extends CompletionStage<T>> request) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		this.unanswered.add(answer);
		this.requests.send(this.order == Order.ANY, () -> carryOut(request, answer));
		return answer;
	}

	private <T extends @Nullable Object> void carryOut(Supplier<? extends CompletionStage<T>> request,
			CompletableFuture<T> answer) {
		CompletionStage<T> result;
		try {
			result = request.get();
		}
		catch (RuntimeException ex) {
			result = CompletableFuture.failedFuture(ex);
		}
		Direction connection = this.answers;
		result.whenComplete((value, failure) -> connection.send(false, () -> {
			this.unanswered.remove(answer);
			if (failure != null) {
				answer.completeExceptionally(failure);
			}
			else {
				answer.complete(value);
			}
		}));
	}

	/**
	 * Sends a notification from the server to the client.
	 * @param arrival runs on the client if the notification arrives
	 */
	public void push(Runnable arrival) {
		this.answers.send(false, arrival);
	}

	/**
	 * Breaks the connection. Messages in transit are lost, and the client notices soon.
	 * Later messages use a new connection.
	 */
	public void cut() {
		this.requests.close();
		this.answers.close();
		this.requests = new Direction(this.client, this.server);
		this.answers = new Direction(this.server, this.client);
		List<CompletableFuture<?>> lost = List.copyOf(this.unanswered);
		this.unanswered.clear();
		Simulation simulation = this.client.simulation();
		long noticed = simulation.now() + simulation.random().nextInt(MOST_NOTICE);
		this.client.disturbedUntil(noticed);
		simulation.at(noticed, this.client, () -> {
			lost.forEach((answer) -> answer.completeExceptionally(new IOException("connection lost")));
			List.copyOf(this.onCut).forEach(Runnable::run);
		});
	}

	/**
	 * Adds a listener for broken connections.
	 * @param listener runs on the client when it notices that the connection is broken
	 */
	public void onCut(Runnable listener) {
		this.onCut.add(listener);
	}

	/**
	 * Whether messages can overtake each other.
	 */
	public enum Order {

		/**
		 * One connection: messages arrive in order, and a lost message breaks the
		 * connection.
		 */
		IN_ORDER,

		/**
		 * Many connections: messages can overtake each other, each message is lost
		 * independently, and the client may repeat a request.
		 */
		ANY

	}

	private final class Direction {

		private final SimulatedNode from;

		private final SimulatedNode to;

		private final Deque<Runnable> inOrder = new ArrayDeque<>();

		private long lastArrival;

		private boolean closed;

		Direction(SimulatedNode from, SimulatedNode to) {
			this.from = from;
			this.to = to;
		}

		void send(boolean repeatable, Runnable arrival) {
			if (this.closed || this.from.killed()) {
				return;
			}
			Simulation simulation = this.from.simulation();
			SimulatedNetwork.Fate fate = simulation.network().fate(this.from, this.to, repeatable);
			long at = simulation.now() + fate.delay();
			if (SimulatedLink.this.order == Order.IN_ORDER) {
				sendInOrder(simulation, fate, at, arrival);
			}
			else if (!fate.lost()) {
				simulation.at(at, this.to, arrival);
				if (fate.repeatAfter() >= 0) {
					simulation.at(at + fate.repeatAfter(), this.to, arrival);
				}
			}
		}

		void close() {
			this.closed = true;
			this.inOrder.clear();
		}

		private void sendInOrder(Simulation simulation, SimulatedNetwork.Fate fate, long at, Runnable arrival) {
			if (fate.lost()) {
				cut();
				return;
			}
			this.inOrder.add(arrival);
			this.lastArrival = Math.max(this.lastArrival, at);
			// even if a pause reorders the events, messages arrive in order
			simulation.at(this.lastArrival, this.to, () -> {
				Runnable next = this.inOrder.poll();
				if (next != null) {
					next.run();
				}
			});
		}

	}

}
