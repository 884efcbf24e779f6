package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.spi.LockDigest;

/**
 * Takes places in the lines of locks, and gives them up.
 */
final class Line {

	private static final int NAME_LENGTH = 200;

	private static final int MOST_REPETITIONS = 3;

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
		return create(place.line + "/" + PlaceName.prefix(place.claim), data, MOST_REPETITIONS)
			// a client that found the node after a lost reply knows nothing of its making
			.thenCompose((made) -> (made.czxid() != 0) ? CompletableFuture.completedFuture(made)
					: this.calls.stat(made.path()))
			.thenAccept(place::created);
	}

	/** The server may remove the empty line between its making and that of the node. */
	private CompletableFuture<ZooKeeperCalls.Node> create(String path, String data, int repetitions) {
		return this.calls.create(path, data)
			.exceptionallyCompose((failure) -> (ZooKeeperCalls.noNode(failure) && repetitions > 0)
					? create(path, data, repetitions - 1) : CompletableFuture.failedFuture(failure));
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

	/** Delete the node of a claim that the line shows once. */
	CompletableFuture<Void> leave(Place place, PlaceName own) {
		return deleteAll(place.line, List.of(own));
	}

	/**
	 * Delete by owner, not by path: the reply that would have told the path may have been
	 * lost. The line is read after the leader has answered, as a server that lags behind
	 * may not show the node yet.
	 */
	CompletableFuture<Void> leave(Place place) {
		return this.calls.check(place.line)
			.exceptionallyCompose((failure) -> ZooKeeperCalls.changed(failure) ? CompletableFuture.completedFuture(null)
					: CompletableFuture.failedFuture(failure))
			.thenCompose((current) -> read(place.line))
			.thenCompose(
					(names) -> deleteAll(place.line, names.stream().filter((name) -> name.isOf(place.claim)).toList()))
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
