package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Renews the leases of grants, each lease once.
 */
final class Renewals {

	private final EtcdCalls calls;

	private final Keys keys;

	private final SchedulingClock clock;

	private final Function<OwnerId, @Nullable Place> places;

	private final Function<Place, CompletableFuture<Void>> lost;

	/**
	 * Creates the renewals of one backend.
	 * @param places finds what is known of a claim
	 * @param lost forgets a hold whose key is gone
	 */
	Renewals(EtcdCalls calls, Keys keys, SchedulingClock clock, Function<OwnerId, @Nullable Place> places,
			Function<Place, CompletableFuture<Void>> lost) {
		this.calls = calls;
		this.keys = keys;
		this.clock = clock;
		this.places = places;
		this.lost = lost;
	}

	/** Renews grants, as many in one round trip as a transaction holds. */
	CompletableFuture<List<RenewResult>> renew(List<Grant> grants) {
		List<CompletableFuture<List<RenewResult>>> parts = new ArrayList<>();
		for (int i = 0; i < grants.size(); i += EtcdCalls.OPERATIONS) {
			parts.add(renewPart(grants.subList(i, Math.min(grants.size(), i + EtcdCalls.OPERATIONS))));
		}
		return all(parts).thenApply((results) -> results.stream().flatMap(List::stream).toList());
	}

	/**
	 * Renew the leases, and at the same time read the keys: etcd has been seen to renew a
	 * lease whose keys were gone already.
	 */
	private CompletableFuture<List<RenewResult>> renewPart(List<Grant> grants) {
		long start = this.clock.nanos();
		CompletableFuture<List<Long>> revisions = this.calls
			.revisions(grants.stream().map((grant) -> this.keys.of(grant.claim())).toList());
		Map<EtcdLease, CompletableFuture<EtcdLease>> renewals = new IdentityHashMap<>();
		List<CompletableFuture<RenewResult>> answers = new ArrayList<>();
		for (int i = 0; i < grants.size(); i++) {
			int index = i;
			Grant grant = grants.get(i);
			Place place = this.places.apply(grant.claim().owner());
			EtcdLease lease = (place != null) ? place.lease() : null;
			answers.add((place == null || lease == null || place.revision() != grant.storeToken())
					? CompletableFuture.completedFuture(new RenewResult.Refused())
					: renewals.computeIfAbsent(lease, EtcdLease::renewed)
						.thenCombine(revisions, (renewed, read) -> read.get(index) == grant.storeToken())
						.thenCompose((stands) -> renewed(place, stands, lease, start))
						.exceptionallyCompose((failure) -> notRenewed(place, failure)));
		}
		return all(answers);
	}

	private CompletableFuture<RenewResult> renewed(Place place, boolean stands, EtcdLease lease, long start) {
		return stands ? CompletableFuture.completedFuture(new RenewResult.Renewed(lease.lastsFrom(start)))
				: this.lost.apply(place).thenApply((done) -> new RenewResult.Refused());
	}

	private CompletableFuture<RenewResult> notRenewed(Place place, Throwable failure) {
		return EtcdFailures.isLeaseGone(failure) ? this.lost.apply(place).thenApply((done) -> new RenewResult.Refused())
				: CompletableFuture.completedFuture(new RenewResult.Indeterminate(EtcdFailures.cause(failure)));
	}

	private static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> answers) {
		return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
			.thenApply((done) -> answers.stream().map(CompletableFuture::join).toList());
	}

}
