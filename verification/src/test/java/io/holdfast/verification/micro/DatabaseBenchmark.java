package io.holdfast.verification.micro;

import java.time.Duration;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockOptions;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.verification.benchmark.Contender;
import io.holdfast.verification.benchmark.JdbcContenders;

/**
 * Measures what the two statements of an uncontended pair cost in H2 without an engine, a
 * pool or meters, beside the complete lock of another library.
 *
 * @see MicroBenchmarks
 */
@State(Scope.Thread)
public class DatabaseBenchmark {

	private static final String URL = "jdbc:h2:mem:benchmark;DB_CLOSE_DELAY=-1";

	private static final String TABLE = "holdfast_lock";

	private final SingleConnectionDataSource connection = new SingleConnectionDataSource(URL, true);

	private final JdbcLockBackend backend;

	private final Claim claim = new Claim(LockName.of("benchmark", 0), OwnerId.random(), LockMode.EXCLUSIVE,
			Duration.ofSeconds(30), true, Duration.ofSeconds(Contender.WAIT_SECONDS), false);

	private final Contender springIntegration = JdbcContenders.springIntegration(URL);

	public DatabaseBenchmark() {
		// H2 executes several statements at once
		new JdbcTemplate(this.connection).execute(JdbcLockBackend.schema(TABLE));
		this.backend = new JdbcLockBackend(this.connection,
				new JdbcLockOptions("benchmark", TABLE, Duration.ofSeconds(3), false));
	}

	@Benchmark
	public void statements() {
		AcquireResult.Acquired acquired = (AcquireResult.Acquired) this.backend.tryAcquire(this.claim)
			.toCompletableFuture()
			.join();
		this.backend.release(acquired.grant());
	}

	@Benchmark
	public void springIntegration() throws Exception {
		this.springIntegration.locked("benchmark", () -> {
		});
	}

	@TearDown
	public void close() {
		this.backend.close();
		this.connection.destroy();
	}

}
