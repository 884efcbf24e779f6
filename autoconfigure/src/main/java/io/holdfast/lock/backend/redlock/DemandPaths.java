package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

/**
 * How this JVM learns that another claim demands the lease of an attempt: from each node
 * to which it listened when it sent the attempt.
 *
 * @param signal completes at the first demand; {@code null} if the lease may not be
 * sticky
 * @param nodes the nodes, none if the lease may not be sticky
 */
record DemandPaths(@Nullable CompletionStage<?> signal, List<RedlockNode> nodes) {

	static DemandPaths of(Claim claim, RedlockNodes nodes) {
		return claim.sticky()
				? new DemandPaths(nodes.expectDemand(claim.owner()),
						nodes.all().stream().filter(RedlockNode::isListening).toList())
				: new DemandPaths(null, List.of());
	}

	/**
	 * Returns the grant. It is sticky if a majority of the nodes has granted it and
	 * forwards demands: any other claim that a majority answers reaches one of them.
	 * @param responses the responses of the nodes so far
	 * @param quorum the size of a majority
	 */
	Grant withDemand(Grant grant, Stream<NodeResponse> responses, int quorum) {
		if (this.signal == null) {
			return grant;
		}
		long forwarding = responses.filter((answer) -> answer.isYes() && this.nodes.contains(answer.node()))
			.map(NodeResponse::runId)
			.distinct()
			.count();
		return (forwarding >= quorum) ? grant.withDemand(this.signal) : grant;
	}

}
