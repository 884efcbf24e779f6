package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests when transactions pass the fence, and how rejected transactions end.
 */
class TransactionFenceTests {

	private final DataSource dataSource = database("fence");

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private final List<StaleFencingTokenException> refusals = new ArrayList<>();

	private final TransactionFence fence = new TransactionFence(
			new JdbcFencingGuard(this.dataSource, "fence", (hold) -> hold.lock().toString()), this.dataSource,
			Object::toString, (method, type) -> null, (hold) -> true, this.refusals::add);

	private final TransactionTemplate transaction = transactions(this.dataSource);

	private Runnable unbind = () -> {
	};

	private static DataSource database(String name) {
		return new DriverManagerDataSource("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500".formatted(name));
	}

	private TransactionTemplate transactions(DataSource of) {
		DataSourceTransactionManager manager = TestFence.manager(of, this.fence);
		return new TransactionTemplate(manager);
	}

	private TransactionTemplate with(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.transaction.getTransactionManager());
		template.setPropagationBehavior(propagation);
		return template;
	}

	@BeforeEach
	void makeTable() {
		TestFence.clear(this.dataSource);
	}

	@AfterEach
	void unbind() {
		this.unbind.run();
		assertThat(LockContext.handles()).isEmpty();
	}

	private void hold(long token, String owner) {
		this.unbind.run();
		this.unbind = LockContext.bind(TestHold.of("42", token, owner));
	}

	private List<Long> tokens() {
		return this.jdbc.queryForList("SELECT token FROM fence", Long.class);
	}

	private void overtakenBy(long token) {
		this.jdbc.update("DELETE FROM fence");
		this.jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', ?, 'successor')", token);
	}

	@Test
	void transactionPassesWhenItBegins() {
		hold(10, "a");
		this.transaction.executeWithoutResult((status) -> assertThat(tokens()).containsExactly(10L));
		assertThat(tokens()).containsExactly(10L);
	}

	@Test
	void rolledBackTransactionHasNotPassed() {
		hold(10, "a");
		this.transaction.executeWithoutResult((status) -> status.setRollbackOnly());
		assertThat(tokens()).isEmpty();
	}

	@Test
	void transactionWithoutALockIsNotFenced() {
		this.jdbc.execute("DROP TABLE fence");
		this.transaction.executeWithoutResult((status) -> this.fence.beforeBody(null));
	}

	@Test
	void overtakenHolderIsRefusedBeforeItsBody() {
		hold(10, "a");
		overtakenBy(20);
		AtomicBoolean ran = new AtomicBoolean();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.fence.beforeBody(null);
				ran.set(true);
			}));
		assertThat(ran).isFalse();
		assertThat(this.refusals).hasSize(1);
	}

	@Test
	void overtakenHolderWithoutABodyCheckCannotCommit() {
		hold(10, "a");
		overtakenBy(20);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult(
					(status) -> this.jdbc.update("INSERT INTO fence VALUES ('work', 'of the overtaken', 1, 'a')")));
		assertThat(tokens()).containsExactly(20L);
		assertThat(this.refusals).hasSize(1);
	}

	@Test
	void refusalIgnoredByTheBodyStillRollsBack() {
		hold(10, "a");
		overtakenBy(20);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> this.fence.beforeBody(null));
				this.jdbc.update("INSERT INTO fence VALUES ('work', 'of the overtaken', 1, 'a')");
			}));
		assertThat(tokens()).containsExactly(20L);
	}

	@Test
	void innerTransactionDoesNotWaitForTheRowOfTheOuterOne() {
		hold(10, "a");
		this.transaction.executeWithoutResult(
				(outer) -> with(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((inner) -> {
					this.fence.beforeBody("Orders.place()");
					this.jdbc.update("INSERT INTO fence VALUES ('audit', 'audit', 1, 'a')");
				}));
		assertThat(tokens()).containsExactlyInAnyOrder(10L, 1L);
	}

	/** The second hold is that of a lock that was released before the outer commit. */
	@Test
	void laterHoldPassesInsideTheTransactionOfTheEarlierOne() {
		this.transaction.executeWithoutResult((outer) -> {
			hold(10, "a");
			this.fence.beforeBody("Orders.place()");
			hold(20, "b");
			inner("first");
			inner("second");
			hold(10, "a");
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> inner("stale"));
			this.unbind.run();
		});
		assertThat(this.jdbc.queryForList("SELECT owner FROM fence", String.class)).containsExactlyInAnyOrder("b",
				"first", "second");
	}

	private void inner(String work) {
		with(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((inner) -> {
			this.fence.beforeBody("Orders.place()");
			this.jdbc.update("INSERT INTO fence VALUES (?, 'work', 1, ?)", work, work);
		});
	}

	/** Returns a manager of fenced transactions whose statements are recorded. */
	private DataSourceTransactionManager recording(List<String> statements) {
		DataSource observed = new ObservedStatements(this.dataSource, statements::add);
		return TestFence.manager(observed,
				new TransactionFence(new JdbcFencingGuard(observed, "fence", (hold) -> hold.lock().toString()),
						observed, Object::toString, (method, type) -> null, (hold) -> true, this.refusals::add));
	}

	@Test
	void rowsOfSeveralHoldsAreCheckedTogether() {
		List<String> statements = new ArrayList<>();
		DataSourceTransactionManager manager = recording(statements);
		TransactionTemplate inner = new TransactionTemplate(manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		List<TestHold> holds = List.of(TestHold.of("42", 10, "a"), TestHold.of("43", 10, "a"),
				TestHold.reader("44", 10, "a"));
		List<LockContext.Binding> bindings = holds.stream().map(LockContext::bind).toList();
		try {
			new TransactionTemplate(manager).executeWithoutResult((outer) -> {
				statements.clear();
				inner.executeWithoutResult((status) -> assertThat(statements).hasSize(2));
			});
		}
		finally {
			bindings.forEach(Runnable::run);
		}
	}

	@Test
	void nextTransactionOfTheSameHoldPassesAgain() {
		hold(10, "a");
		this.transaction.executeWithoutResult((status) -> assertThat(tokens()).containsExactly(10L));
		overtakenBy(20);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> assertThat(tokens()).hasSize(1)));
	}

	@Test
	void lockThatIsAcquiredInsideATransactionPassesBeforeTheBody() {
		this.transaction.executeWithoutResult((status) -> {
			hold(10, "a");
			this.fence.beforeBody("Orders.place()");
			assertThat(tokens()).containsExactly(10L);
		});
	}

	@Test
	void programmaticLockInATransactionPassesBeforeTheCommit() {
		overtakenBy(20);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> hold(10, "a")));
		this.unbind.run();
		this.transaction.executeWithoutResult((status) -> hold(30, "b"));
		assertThat(tokens()).containsExactly(30L);
	}

	@Test
	void fenceIsPassedAgainAfterARollbackToASavepoint() {
		hold(10, "a");
		this.unbind.run();
		this.transaction.executeWithoutResult((outer) -> {
			undoNested(() -> {
				hold(10, "a");
				this.fence.beforeBody("Orders.place()");
			});
			assertThat(tokens()).isEmpty();
		});
		assertThat(tokens()).containsExactly(10L);
	}

	@Test
	void rollbackToASavepointKeepsEarlierPasses() {
		hold(10, "a");
		this.transaction.executeWithoutResult((outer) -> {
			undoNested(() -> this.fence.beforeBody("Orders.place()"));
			with(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
				.executeWithoutResult((inner) -> this.fence.beforeBody("Orders.place()"));
			overtakenBy(20);
			this.fence.beforeBody("Orders.place()");
			assertThat(tokens()).containsExactly(20L);
			outer.setRollbackOnly();
		});
	}

	@Test
	void innerSavepointKeepsPassesAfterTheOuterOne() {
		this.transaction.executeWithoutResult((status) -> {
			Object outer = status.createSavepoint();
			hold(10, "a");
			this.fence.beforeBody("Orders.place()");
			Object inner = status.createSavepoint();
			status.rollbackToSavepoint(inner);
			overtakenBy(20);
			this.fence.beforeBody("Orders.place()");
			status.rollbackToSavepoint(outer);
			assertThat(tokens()).isEmpty();
			this.fence.beforeBody("Orders.place()");
			assertThat(tokens()).containsExactly(10L);
		});
	}

	/** Without a rollback, the connection would commit when it is returned. */
	@Test
	void timeoutBeforeTheCommitRollsBack() {
		overtakenBy(20);
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.jdbc.update("INSERT INTO fence VALUES ('work', 'of the overtaken', 1, 'a')");
				hold(10, "a");
				pauseUntilTimeout();
			}))
			.withMessageContainingAll("Lock 'stock:42' (backend redis, token 10)", "timeout of this transaction",
					"rolled back");
		assertThat(tokens()).containsExactly(20L);
	}

	private void pauseUntilTimeout() {
		ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.getResource(this.dataSource);
		assertThat(holder).isNotNull();
		holder.setTimeoutInMillis(-1);
	}

	private void undoNested(Runnable body) {
		assertThatIllegalStateException()
			.isThrownBy(() -> with(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				body.run();
				throw new IllegalStateException("undone");
			}));
	}

	@Test
	void endOfASavepointDoesNotPassAgain() {
		List<String> statements = new ArrayList<>();
		DataSourceTransactionManager manager = recording(statements);
		TransactionTemplate nested = new TransactionTemplate(manager);
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		new TransactionTemplate(manager).executeWithoutResult((outer) -> {
			hold(10, "a");
			nested.executeWithoutResult((status) -> statements.clear());
			assertThat(statements).isEmpty();
		});
		assertThat(statements).hasSize(1);
	}

	@Test
	void transactionThatReadsOnlyIsNotFenced() {
		hold(10, "a");
		TransactionTemplate readOnly = with(TransactionDefinition.PROPAGATION_REQUIRED);
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fence.beforeBody("Orders.place()"))
			.withMessageContaining("read-only"));
		assertThat(tokens()).isEmpty();
	}

	@Test
	void callWithoutATransactionIsNotFenced() {
		hold(10, "a");
		this.fence.beforeBody(null);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fence.beforeBody("Orders.place()"))
			.withMessageContainingAll("Orders.place(): it has 'fenced = true' and holds ['", "Make it @Transactional");
		assertThat(tokens()).isEmpty();
	}

	@Test
	void transactionOfAnotherDataSourceIsNotFenced() {
		hold(10, "a");
		transactions(database("another")).executeWithoutResult((status) -> {
			// binds a connection of this data source that commits each statement
			this.jdbc.queryForList("SELECT 1 FROM fence");
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> this.fence.beforeBody("Orders.place()"));
		});
		assertThat(tokens()).isEmpty();
	}

	/** Spring returns that connection while the transaction is suspended. */
	@Test
	void connectionThatWasReturnedDuringASuspensionIsNotFenced() {
		TransactionTemplate other = transactions(database("another"));
		TransactionTemplate inner = new TransactionTemplate(other.getTransactionManager());
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		other.executeWithoutResult((status) -> {
			this.jdbc.queryForList("SELECT 1 FROM fence");
			inner.executeWithoutResult((suspending) -> {
			});
			hold(10, "a");
			this.fence.beforeBody(null);
		});
		assertThat(tokens()).isEmpty();
	}

	@Test
	void holdOfNoThreadPassesOnRequest() {
		TestHold hold = TestHold.of("42", 10, "a");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.fence.advance(hold))
			.withMessageContainingAll("stock:42", "in the transaction that writes");
		this.transaction.executeWithoutResult((status) -> this.fence.advance(hold));
		assertThat(tokens()).containsExactly(10L);
	}

	@Test
	void databaseFailureAtTheBeginPreventsTheCommit() {
		hold(10, "a");
		this.jdbc.execute("DROP TABLE fence");
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.fence.beforeBody(null)))
			.withMessageContaining("MERGE INTO fence");
		assertThat(this.refusals).isEmpty();
	}

}
