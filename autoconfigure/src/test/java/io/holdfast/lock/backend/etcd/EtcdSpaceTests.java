package io.holdfast.lock.backend.etcd;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SystemSchedulingClock;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an etcd that has used up its quota and therefore rejects new keys and leases.
 */
class EtcdSpaceTests extends OneEtcdServer {

	private static final String REMEDY = "etcdctl alarm disarm";

	private final EtcdLockBackend backend = new EtcdLockBackend(Client.builder().endpoints(server.endpoint()),
			new EtcdLockOptions(NAMESPACE, BOUND));

	@AfterEach
	void close() throws Exception {
		alarm("DEACTIVATE");
		this.backend.close();
	}

	private static void alarm(String action) throws Exception {
		long member = inspection.getMaintenanceClient()
			.statusMember(server.endpoint())
			.get(10, TimeUnit.SECONDS)
			.getHeader()
			.getMemberId();
		HttpURLConnection request = (HttpURLConnection) URI.create(server.endpoint() + "/v3/maintenance/alarm")
			.toURL()
			.openConnection();
		request.setDoOutput(true);
		try (OutputStream body = request.getOutputStream()) {
			body.write("{\"action\": \"%s\", \"memberID\": \"%s\", \"alarm\": \"NOSPACE\"}"
				.formatted(action, Long.toUnsignedString(member))
				.getBytes(StandardCharsets.UTF_8));
		}
		try (InputStream answer = request.getInputStream()) {
			answer.readAllBytes();
		}
	}

	@Test
	void usedUpQuotaIsExplainedAndReleaseStillWorks() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		alarm("ACTIVATE");
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> answer(this.backend.tryAcquire(claim(LockName.of("other")))))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContaining("Lock 'other' (backend etcd)")
			.withMessageContaining(REMEDY);
		assertThat(answer(this.backend.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, grant);
	}

	/** etcd rejects the epoch that makes the unanswered attempt harmless. */
	@Test
	void releaseAfterAnUnansweredAttemptFreesTheLock() throws Exception {
		LateClient client = LateClient.to(server.endpoint());
		SystemSchedulingClock clock = new SystemSchedulingClock("test-etcd");
		try (EtcdLockBackend late = new EtcdLockBackend(client, NAMESPACE, "late", clock, clock::close)) {
			client.loseNextAnswerToAnAttempt();
			Claim claim = claim(LOCK);
			assertThat(ask(late, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
			Grant grant = granted(late, claim);
			Claim waiting = claim(LOCK);
			assertThat(ask(this.backend, waiting)).isInstanceOf(AcquireResult.Contended.class);
			alarm("ACTIVATE");
			assertThat(late.release(grant)).as("the first release").failsWithin(BOUND);
			released(this.backend, granted(this.backend, waiting));
			alarm("DEACTIVATE");
			answer(late.release(grant));
			assertThat(late.queueNodes.remembered()).isEmpty();
		}
	}

	@Test
	void claimThatIsNotRenewedIsRejectedWithTheRemedy() throws Exception {
		alarm("ACTIVATE");
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> answer(this.backend.tryAcquire(lasting(LOCK, Duration.ofSeconds(30)))))
			.havingCause()
			.withMessageContaining(REMEDY);
	}

	@Test
	void rejectedClaimCanBeWithdrawn() throws Exception {
		released(this.backend, granted(this.backend, claim(LOCK)));
		Claim rejected = claim(LockName.of("other"));
		alarm("ACTIVATE");
		assertThat(this.backend.tryAcquire(rejected)).failsWithin(BOUND);
		assertThat(this.backend.abandon(rejected)).succeedsWithin(BOUND);
	}

	@Test
	void usedUpQuotaStopsTheStartWithTheRemedy() throws Exception {
		alarm("ACTIVATE");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.backend::verify)
			.withMessageContaining(REMEDY);
	}

}
