package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockDigest;

/**
 * Takes places in the lines of locks, and gives them up.
 */
final class Line {

	private static final int NAME_LENGTH = 200;

	private final ZooKeeperCalls calls;

	Line(ZooKeeperCalls calls) {
		this.calls = calls;
	}

	/** Make the node of a place if it is not there, and read the line. */
	CompletableFuture<List<PlaceName>> stand(Place place) {
		String path = place.path(this.calls.session());
		if (path != null) {
			return standStill(place, path);
		}
		CompletableFuture<Boolean> created = place.createOnce(() -> create(place));
		// sent right behind it, and answered right behind it: the node is in the list
		CompletableFuture<List<PlaceName>> line = read(place.line);
		return created.thenCompose((byThis) -> byThis ? line.handle((read, failure) -> {
			boolean seen = read != null && read.stream().anyMatch((other) -> other.isOf(place.claim));
			return seen ? CompletableFuture.completedFuture(read) : read(place.line);
		}).thenCompose((read) -> read) : stand(place));
	}

	/**
	 * The line as a server shows it is not enough: one that lags behind shows a node
	 * whose session has ended, in a line that others have left. So the leader is asked
	 * whether the node is there, from which on the lease counts.
	 */
	private CompletableFuture<List<PlaceName>> standStill(Place place, String path) {
		CompletableFuture<Void> there = this.calls.check(path);
		CompletableFuture<List<PlaceName>> line = read(place.line);
		return there.thenCompose((yes) -> line)
			.exceptionallyCompose((failure) -> ZooKeeperCalls.gone(failure)
					? CompletableFuture.completedFuture(List.of()) : CompletableFuture.failedFuture(failure));
	}

	private CompletableFuture<Void> create(Place place) {
		String data = LockDigest.readable(place.claim.lock(), NAME_LENGTH);
		return this.calls.create(place.line + "/" + PlaceName.prefix(place.claim), data)
			// a client that found the node after a lost reply knows nothing of its making
			.thenCompose((made) -> (made.czxid() != 0) ? CompletableFuture.completedFuture(made)
					: this.calls.stat(made.path()))
			.thenAccept((node) -> created(place, node));
	}

	private void created(Place place, ZooKeeperCalls.Node node) {
		place.created(node);
		if (place.abandoned()) {
			this.calls.delete(node.path());
		}
	}

	private CompletableFuture<List<PlaceName>> read(String line) {
		return this.calls.children(line).thenApply(PlaceName::line);
	}

	/**
	 * The line with one node of this claim. A creation whose reply was lost may have been
	 * repeated by the client, and a claim must not wait for itself.
	 */
	CompletableFuture<List<PlaceName>> withoutDoubles(Place place, List<PlaceName> line, PlaceName own) {
		List<PlaceName> doubles = line.stream()
			.filter((other) -> other.isOf(place.claim) && !other.equals(own))
			.toList();
		List<PlaceName> single = line.stream().filter((other) -> !doubles.contains(other)).toList();
		return deleteAll(place.line, doubles).thenApply((done) -> single);
	}

	/**
	 * Delete by owner, not by path: the reply that would have told the path may have been
	 * lost.
	 */
	CompletableFuture<Void> leave(String line, Claim claim) {
		this.calls.sync(line);
		return read(line)
			.thenCompose((names) -> deleteAll(line, names.stream().filter((name) -> name.isOf(claim)).toList()))
			.exceptionallyCompose(Line::unlessGone);
	}

	private CompletableFuture<Void> deleteAll(String line, List<PlaceName> names) {
		return CompletableFuture.allOf(names.stream()
			.map((name) -> this.calls.delete(line + "/" + name.name()).exceptionallyCompose(Line::unlessGone))
			.toArray(CompletableFuture[]::new));
	}

	private static CompletableFuture<Void> unlessGone(Throwable failure) {
		return ZooKeeperCalls.gone(failure) ? CompletableFuture.completedFuture(null)
				: CompletableFuture.failedFuture(ZooKeeperCalls.cause(failure));
	}

}
