package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The responses of all nodes to one attempt, which arrive one after another. Thread-safe.
 */
final class NodeResponses {

	private final List<RedlockNode> nodes;

	/** The response of each node, in the order of the nodes. */
	private final List<CompletableFuture<NodeResponse>> responses;

	private final AtomicInteger missing;

	NodeResponses(List<RedlockNode> nodes) {
		this.nodes = nodes;
		this.responses = Stream.generate(CompletableFuture<NodeResponse>::new).limit(nodes.size()).toList();
		this.missing = new AtomicInteger(nodes.size());
	}

	/**
	 * Adds the response of one node, or its failure to respond.
	 * @return whether it is the last one
	 */
	boolean add(NodeResponse response) {
		of(response.node()).complete(response);
		return this.missing.decrementAndGet() == 0;
	}

	CompletableFuture<NodeResponse> of(RedlockNode node) {
		return this.responses.get(this.nodes.indexOf(node));
	}

	/** Returns the responses that have arrived. */
	Stream<NodeResponse> present() {
		return this.responses.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join);
	}

}
