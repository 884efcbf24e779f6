package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.backend.StickyEngineCases;
import io.holdfast.lock.backend.StickyInstance;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;

import static io.holdfast.lock.backend.StickyInstance.LOCK;
import static io.holdfast.lock.backend.StickyInstance.request;
import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines on PostgreSQL.
 */
class PostgresStickyTests extends PostgresStickyFixture implements StickyEngineCases {

	private static final int PAIRS = 1_000;

	private StickyInstance one;

	private StickyInstance other;

	@BeforeEach
	void start() {
		this.jdbc.sql("DELETE FROM holdfast_lock").update();
		listens(this.first);
		this.one = instance(this.first, LONG);
		this.other = instance(this.second, Duration.ZERO);
	}

	private StickyInstance instance(LockBackend backend, Duration sticky) {
		StickyInstance instance = StickyInstance.of(backend, sticky);
		this.opened.add(instance.engine());
		return instance;
	}

	@Override
	public StickyInstance first() {
		return this.one;
	}

	@Override
	public StickyInstance second() {
		return this.other;
	}

	@Override
	public Collection<String> left() {
		return this.jdbc.sql("SELECT lock_name FROM holdfast_lock WHERE owner <> ''").query(String.class).list();
	}

	@Test
	void twoStatementsServeManyPairs() {
		assertThat(statementsOfPairs(this.one, PAIRS)).isEqualTo(2);
	}

	@Test
	void eachPairTakesTwoStatementsByDefault() {
		assertThat(statementsOfPairs(this.other, 100)).isEqualTo(2 * 100);
	}

	/** Counts the statements, including the last release, which the engine awaits. */
	private int statementsOfPairs(StickyInstance instance, int pairs) {
		this.statements.set(0);
		for (int i = 0; i < pairs; i++) {
			instance.token();
		}
		instance.engine().close();
		return this.statements.get();
	}

	/**
	 * The waiter sends a claim and its announcement, which demands the lease. The
	 * holder's instance sends the release, which grants the lock to the waiter.
	 */
	@Test
	void waiterGetsAnIdleLeaseWithADemandAndANotification() throws Exception {
		listens(this.second);
		try (Connection listener = this.pool.getConnection(); Statement statement = listener.createStatement()) {
			statement.execute("LISTEN " + ReleaseNotifications.CHANNEL);
			String owner = this.one.engine().execute(request(BOUND), LockHandle::ownerId);
			FencingToken before = this.one.token();
			this.statements.set(0);
			assertThat(this.other.token()).isGreaterThan(before);
			this.other.engine().close();
			// a claim, its announcement, and the releases of both engines
			assertThat(this.statements).hasValue(4);
			assertThat(notifications(listener)).map((news) -> ReleaseNotice.parse(news).lockId())
				.containsExactly(ReleaseNotifications.WANTED + owner, LockDigest.of("test", LOCK),
						LockDigest.of("test", LOCK));
			statement.execute("UNLISTEN *");
		}
	}

	private List<String> notifications(Connection listener) throws SQLException {
		List<String> all = new ArrayList<>();
		this.jdbc.sql("SELECT pg_notify('%s', 'marker')".formatted(ReleaseNotifications.CHANNEL)).query((row) -> {
		});
		while (!all.contains("marker")) {
			for (PGNotification news : listener.unwrap(PGConnection.class).getNotifications((int) BOUND.toMillis())) {
				all.add(news.getParameter());
			}
		}
		// the other engine's release notifies for some seconds after its own wait
		return all.stream().filter((news) -> !news.equals("marker")).distinct().toList();
	}

	@Test
	void severalInstancesTakeTurns() {
		listens(this.second);
		LockEngine sticky = instance(this.second, LONG).engine();
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		List<FencingToken> tokens = new CopyOnWriteArrayList<>();
		for (LockEngine engine : List.of(this.one.engine(), sticky)) {
			callers.add(CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 20; i++) {
					engine.execute(request(BOUND), (handle) -> tokens.add(handle.fencingToken()));
				}
			}));
		}
		callers.forEach(CompletableFuture::join);
		assertThat(tokens).hasSize(40).isSorted().doesNotHaveDuplicates();
	}

}
