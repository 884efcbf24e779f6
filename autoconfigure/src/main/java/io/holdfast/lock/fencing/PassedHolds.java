package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockHandle;

/**
 * The holds with which open transactions of the current thread have passed the fence,
 * each with the connection of its transaction.
 */
final class PassedHolds {

	/** Without a value on threads whose transactions have passed no fence. */
	private static final ThreadLocal<@Nullable Map<PassedHold, Pass>> CURRENT = new ThreadLocal<>();

	private PassedHolds() {
	}

	static boolean isEmpty() {
		return CURRENT.get() == null;
	}

	private static Map<PassedHold, Pass> current() {
		Map<PassedHold, Pass> all = CURRENT.get();
		return (all != null) ? all : Map.of();
	}

	/**
	 * Notes holds that are bound to no thread, with which the current transaction has
	 * passed, perhaps by the pass of an outer one.
	 * @param holds the holds
	 * @param connection the resource of the transaction's connection
	 * @param database the database to which it leads
	 * @param fence the fence
	 */
	static void noteUnbound(List<LockHandle> holds, ConnectionHolder connection, String database,
			TransactionFence fence) {
		holds.forEach((hold) -> {
			PassedHold passed = PassedHold.of(hold, database);
			if (ofTransaction().noneMatch((pass) -> pass.unbound.containsKey(passed))) {
				Pass latest = current().get(passed);
				ofTransaction().filter((pass) -> pass == latest)
					.findFirst()
					.orElseGet(() -> register(new Pass(Set.of(), connection, false, Set.of()))).unbound
					.put(passed, Map.entry(hold, fence));
			}
		});
	}

	/**
	 * Returns the holds that are bound to no thread and with which the current
	 * transaction has passed a fence, by that fence. Several contexts may fence the same
	 * transaction.
	 */
	static Map<TransactionFence, List<LockHandle>> unbound() {
		return ofTransaction().flatMap((pass) -> pass.unbound.values().stream())
			.collect(Collectors.groupingBy(Map.Entry::getValue,
					Collectors.mapping(Map.Entry::getKey, Collectors.toList())));
	}

	/** Returns the passes that end with the current transaction. */
	static Stream<Pass> ofTransaction() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.filter(Pass.class::isInstance)
					.map(Pass.class::cast)
				: Stream.empty();
	}

	/**
	 * Returns the passes of the current transaction in their order, and then the latest
	 * ones of all open transactions.
	 */
	private static Set<Pass> present() {
		return Stream.concat(ofTransaction(), current().values().stream())
			.collect(Collectors.toCollection(LinkedHashSet::new));
	}

	/**
	 * Returns what the current transaction has passed with. Spring copies and sorts all
	 * callbacks for that, so this must not be repeated for each hold.
	 */
	private static Set<Use> uses() {
		return ofTransaction().flatMap((pass) -> pass.passed.stream().map((hold) -> new Use(pass.connection, hold)))
			.collect(Collectors.toSet());
	}

	private static void noteUse(Set<PassedHold> holds, ConnectionHolder connection, Set<Use> used) {
		if (!holds.stream().allMatch((hold) -> used.contains(new Use(connection, hold)))) {
			register(new Pass(holds, connection, false, present()));
		}
	}

	private static Pass register(Pass pass) {
		TransactionSynchronizationManager.registerSynchronization(pass);
		return pass;
	}

	/**
	 * Returns the holds that have not passed yet, one for each lease. The row of a
	 * transaction that is over is free, although its callbacks still run.
	 * @param holds the holds
	 * @param connection the resource of the current transaction's connection
	 * @param database the database to which it leads; passes in others do not count
	 * @param kept asked once for all holds with the same earlier pass
	 */
	static List<LockHandle> notAmong(List<LockHandle> holds, ConnectionHolder connection, String database, Kept kept) {
		Map<PassedHold, LockHandle> left = new LinkedHashMap<>();
		holds.forEach((hold) -> left.putIfAbsent(PassedHold.of(hold, database), hold));
		Map<Earlier, List<LockHandle>> passed = new LinkedHashMap<>();
		Set<Use> used = uses();
		left.forEach((own, hold) -> {
			Earlier earlier = earlier(own, connection, used);
			if (earlier != null) {
				passed.computeIfAbsent(earlier, (key) -> new ArrayList<>()).add(hold);
			}
		});
		passed.forEach((earlier, among) -> {
			Set<PassedHold> asked = passedHolds(among, database);
			Set.copyOf(current().values()).forEach((pass) -> pass.asked(earlier.connection(), asked));
			if (kept.test(among, earlier)) {
				if (!earlier.sameHold()) {
					add(among, earlier.connection(), database, false, () -> {
					});
				}
				else {
					noteUse(asked, earlier.connection(), used);
				}
				among.forEach((hold) -> left.remove(PassedHold.of(hold, database)));
			}
		});
		return List.copyOf(left.values());
	}

	private static Set<PassedHold> passedHolds(List<LockHandle> holds, String database) {
		return holds.stream().map((hold) -> PassedHold.of(hold, database)).collect(Collectors.toSet());
	}

	private static @Nullable Earlier earlier(PassedHold own, ConnectionHolder connection, Set<Use> used) {
		Map<PassedHold, Pass> all = current();
		Pass same = all.get(own);
		if (same != null && same.isOpen() && !(same.undone && same.connection == connection)) {
			return same.as(true, used.contains(new Use(same.connection, own)));
		}
		return all.entrySet()
			.stream()
			.filter((other) -> other.getKey().isOfSameLock(own) && other.getValue().connection != connection
					&& other.getValue().isOpen())
			// the latest has passed by itself only if no earlier one kept the row
			.max(Comparator.comparing((other) -> other.getKey().token()))
			.map((other) -> other.getValue().as(false, false))
			.orElse(null);
	}

	/**
	 * Records these holds and passes with them. Also a rejected transaction keeps rows.
	 * @param holds the holds
	 * @param connection the resource of the connection with which they have passed
	 * @param database the database to which it leads
	 * @param first whether nothing preceded this in the transaction, not even a savepoint
	 * that Spring does not know
	 * @param action passes with them, or throws the rejection
	 */
	static void add(List<LockHandle> holds, ConnectionHolder connection, String database, boolean first,
			Runnable action) {
		Set<PassedHold> passed = passedHolds(holds, database);
		Set<Pass> earlier = present();
		// before it is recorded, so that it ends even if an error follows
		Pass pass = register(new Pass(passed, connection, first, earlier));
		Map<PassedHold, Pass> present = CURRENT.get();
		Map<PassedHold, Pass> all = (present != null) ? present : new HashMap<>();
		passed.forEach((hold) -> {
			earlier.forEach((other) -> other.unbound.keySet().removeIf(hold::isLaterThan));
			all.put(hold, pass);
		});
		CURRENT.set(all);
		action.run();
		pass.granted = true;
	}

	/**
	 * Returns the database of a connection with which this thread has passed, or
	 * {@code null}. To ask the database for it may be a round trip.
	 * @param connection the resource of the connection
	 * @param prefix how it begins for one of several tables
	 */
	static @Nullable String databaseOf(ConnectionHolder connection, String prefix) {
		return current().entrySet()
			.stream()
			.filter((passed) -> passed.getValue().connection == connection)
			.map((passed) -> passed.getKey().database())
			.filter((database) -> database.startsWith(prefix))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns the connections of the open transactions that have passed.
	 * @param database the database to which they lead
	 * @param inner the resource of another connection
	 */
	static Set<ConnectionHolder> outer(String database, ConnectionHolder inner) {
		return current().entrySet()
			.stream()
			.filter((passed) -> passed.getKey().database().equals(database) && passed.getValue().isOpen())
			.map((passed) -> passed.getValue().connection)
			.filter((connection) -> connection != inner)
			.collect(Collectors.toSet());
	}

	/** Called when a nested transaction has ended, and with it its savepoint. */
	static void savepointEnded() {
		ofTransaction().forEach((pass) -> pass.laterSavepoints.pollLast());
	}

	/** Called when the transaction of a pass has freed the rows. */
	static void forget(Pass pass) {
		Map<PassedHold, Pass> all = CURRENT.get();
		if (all != null) {
			pass.passed.forEach((hold) -> all.remove(hold, pass));
			if (all.isEmpty()) {
				CURRENT.remove();
			}
		}
	}

	/**
	 * Tests whether a transaction still keeps the rows of some holds.
	 */
	interface Kept {

		boolean test(List<LockHandle> holds, Earlier earlier);

	}

	/**
	 * An earlier pass through the fences of the same locks.
	 *
	 * @param connection the resource of its connection
	 * @param sameHold whether the same holds have passed; otherwise those of an outer
	 * transaction, which is suspended and still keeps their rows
	 * @param beforeSavepoint whether it, or one before it, may be older than a savepoint
	 * of its transaction
	 * @param first whether nothing preceded it in its transaction
	 * @param granted whether it was neither rejected nor undone by a savepoint, and the
	 * current transaction has made it or has asked the outer one for the hold before
	 */
	record Earlier(ConnectionHolder connection, boolean sameHold, boolean beforeSavepoint, boolean first,
			boolean granted) {

	}

	/**
	 * A hold with which a transaction has passed.
	 *
	 * @param connection the resource of the connection with which it has passed, its own
	 * or that of an outer one
	 * @param hold the hold
	 */
	private record Use(ConnectionHolder connection, PassedHold hold) {

	}

}
