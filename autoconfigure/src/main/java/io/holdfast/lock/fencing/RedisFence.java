package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.Resources;
import io.holdfast.lock.support.Sha1;

/**
 * The fence in a hash of Redis, without the client library. It runs one script by its
 * digest, and sends the text only if the server does not know the digest. Thread-safe if
 * its {@link Scripts} are.
 */
final class RedisFence {

	private static final String SCRIPT = Resources.text(RedisFence.class, "advance.lua");

	private static final String SHA1 = Sha1.hex(SCRIPT);

	private static final String PERMISSION = "Grant the user of this client the keys of the guard and +evalsha +eval +hget +hset +set.";

	private static final String MEMORY = "Raise the 'maxmemory' of this Redis.";

	private static final String LOGIN = "Check the username and password of this client.";

	/**
	 * Remedies for errors after which nothing is written, by a part of their text. The
	 * first that matches applies.
	 */
	private static final List<Map.Entry<String, String>> REMEDIES = List
		.of(Map.entry("WRONGTYPE", "The key of the guard holds other data. Use another key."), Map.entry("CROSSSLOT",
				"In a cluster, give the key of the guard and the key of the data the same hash tag, such as '{stock}'."),
				Map.entry("READONLY", "This Redis is a replica. Connect to its master."),
				Map.entry("NOPERM", PERMISSION), Map.entry("The user executing the script can't", PERMISSION),
				Map.entry("maxmemory", MEMORY),
				Map.entry("MISCONF", "Redis rejects writes. Check its log; often its disk is full."),
				Map.entry("NOAUTH", LOGIN), Map.entry("WRONGPASS", LOGIN));

	private static final String UNKNOWN = "The outcome is unknown: the fence may have accepted this holder, and the value may be set. Repeat the call while the lock is held.";

	private final Scripts scripts;

	private final String key;

	private final Function<LockHandle, String> id;

	RedisFence(Scripts scripts, String key, Function<LockHandle, String> id) {
		this.scripts = scripts;
		this.key = key;
		this.id = id;
	}

	/** Admits a holder. */
	void advance(LockHandle hold) {
		pass(hold, List.of(this.key), "");
	}

	/** Admits a holder and sets a value, in one step. */
	void write(LockHandle hold, String dataKey, String value) {
		pass(hold, List.of(this.key, dataKey), value);
	}

	private void pass(LockHandle hold, List<String> keys, String value) {
		List<FenceEntry> entries = hold.parts()
			.stream()
			.map((part) -> FenceEntry.of(this.id.apply(part), part))
			.toList();
		List<String> arguments = new ArrayList<>(List.of(value));
		entries.forEach((entry) -> arguments
			.addAll(List.of(entry.id(), Long.toString(entry.token()), entry.owner(), entry.shared() ? "1" : "0")));
		List<String> refusal = run(entries.get(0), keys, arguments);
		if (!refusal.isEmpty()) {
			int which = (int) Double.parseDouble(refusal.get(0)) - 1;
			throw entries.get(which).refused(Long.parseLong(refusal.get(1)));
		}
	}

	private List<String> run(FenceEntry first, List<String> keys, List<String> arguments) {
		try {
			return runByDigest(keys, arguments);
		}
		catch (RuntimeException ex) {
			String text = Failures.rootMessage(ex);
			throw new LockBackendException(first.lock(), first.backend(),
					"%s: its fence in Redis failed with '%s'. %s".formatted(first, text, remedy(text)), ex);
		}
	}

	private List<String> runByDigest(List<String> keys, List<String> arguments) {
		try {
			return this.scripts.evalSha(SHA1, keys, arguments);
		}
		catch (RuntimeException ex) {
			if (Failures.rootMessage(ex).contains("NOSCRIPT")) {
				return this.scripts.eval(SCRIPT, keys, arguments);
			}
			throw ex;
		}
	}

	private static String remedy(String text) {
		return REMEDIES.stream()
			.filter((entry) -> text.contains(entry.getKey()))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElse(UNKNOWN);
	}

	/**
	 * Runs scripts with a client library. A method blocks until the server has answered,
	 * and throws the exceptions of the library.
	 */
	interface Scripts {

		/** Runs a script by its digest and returns its result. */
		List<String> evalSha(String sha1, List<String> keys, List<String> arguments);

		/** Runs a script by its text and returns its result. */
		List<String> eval(String text, List<String> keys, List<String> arguments);

	}

}
