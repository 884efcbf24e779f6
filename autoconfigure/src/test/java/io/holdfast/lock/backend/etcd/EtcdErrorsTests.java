package io.holdfast.lock.backend.etcd;

import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link EtcdErrors}.
 */
class EtcdErrorsTests extends LateEtcdBackend {

	private static final String NO_RESPONSE = "etcd could not be used: no response in time. Check that it is running and responds within 'distributed-lock.response-timeout', its endpoints, and whether it uses TLS.";

	private static Exception missedDeadline() {
		return Status.DEADLINE_EXCEEDED.withDescription(
				"CallOptions deadline exceeded after 0.999s. Name resolution delay 0.002 seconds. [closed=[], open=[[remote_addr=/127.0.0.1:2379]]]")
			.asRuntimeException();
	}

	@Test
	void missedDeadlineNamesTheResponseTimeout() {
		assertThat(EtcdErrors.unknown(new ExecutionException(missedDeadline()), "/holdfast/shop/"))
			.isInstanceOf(LockException.class)
			.hasMessage(NO_RESPONSE);
	}

	/**
	 * The failure of a host name that cannot be resolved has a cause without a message.
	 */
	@Test
	void causeWithoutAMessageIsNotNamed() {
		assertThat(EtcdErrors.unknown(Status.UNAVAILABLE.withDescription("unresolved address")
			.withCause(new UnresolvedAddressException())
			.asRuntimeException(), "/holdfast/shop/")).hasMessage(
					"etcd could not be used: UNAVAILABLE: unresolved address. Check that it is running, its endpoints, and whether it uses TLS.");
	}

	@Test
	void corruptClusterNamesTheAlarm() {
		Status corrupt = Status.DATA_LOSS.withDescription("etcdserver: corrupt cluster");
		assertThat(EtcdErrors.unknown(corrupt.asRuntimeException(), "/holdfast/shop/")).hasMessage(
				"etcd could not be used: DATA_LOSS: etcdserver: corrupt cluster. Replace the members whose data differ, and then clear the alarm with 'etcdctl alarm disarm'.");
	}

	@Test
	void tooFewOperationsNameTheSettingOfTheServer() {
		Status tooMany = Status.INVALID_ARGUMENT.withDescription("etcdserver: too many operations in txn request");
		assertThat(EtcdErrors.unknown(tooMany.asRuntimeException(), "/holdfast/shop/"))
			.hasMessageContainingAll("too many operations in txn request", "'--max-txn-ops'", "100")
			.hasMessageNotContaining("access")
			.hasMessageNotContaining("password");
	}

	@ParameterizedTest
	@MethodSource("outdatedLogins")
	void outdatedLoginNamesTheTokensOfTheMembers(Status outdated) {
		assertThat(EtcdErrors.unknown(outdated.asRuntimeException(), "/holdfast/shop/"))
			.hasMessageContainingAll(outdated.getDescription(), "logs in again", "'--auth-token'");
	}

	static Stream<Status> outdatedLogins() {
		return Stream.of(Status.UNAUTHENTICATED.withDescription("etcdserver: invalid auth token"),
				Status.INVALID_ARGUMENT.withDescription("etcdserver: revision of auth store is old"));
	}

	/**
	 * The client repeats such a request once, with a new login. An operator may change
	 * users or roles again meanwhile.
	 */
	@ParameterizedTest
	@MethodSource("outdatedLogins")
	void outdatedLoginIsNoRefusal(Status outdated) throws Exception {
		Claim claim = claim(LOCK);
		this.client.failing(outdated.asRuntimeException());
		AcquireResult result = ask(this.backend, claim);
		this.client.failing(false);
		released(this.backend, granted(this.backend, claim));
		assertThat(result).isInstanceOf(AcquireResult.Indeterminate.class);
	}

	@Test
	void failedRenewalIsExplained() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		this.client.failing(missedDeadline());
		RenewResult renewed = renewed(this.backend, grant);
		this.client.failing(false);
		released(this.backend, grant);
		assertThat(renewed).isInstanceOfSatisfying(RenewResult.Indeterminate.class,
				(unknown) -> assertThat(unknown.cause()).hasMessage(NO_RESPONSE));
	}

}
