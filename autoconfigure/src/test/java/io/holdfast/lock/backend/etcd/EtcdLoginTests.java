package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the logins of a client whose requests need one at the same time.
 */
@Slow
class EtcdLoginTests {

	private static final int REQUESTS = 50;

	@AutoClose
	private static final EtcdServer server = EtcdServer.started();

	private final AtomicInteger logins = new AtomicInteger();

	private volatile boolean losesResponses;

	/** How long the server is paused after its latest login. */
	private volatile @Nullable Duration pause;

	@BeforeAll
	static void enableAuthentication() {
		server.enableAuthentication("shop", "secret", "/holdfast/shop/");
	}

	private EtcdLockBackend backend(String password) {
		return backend(password, BOUND);
	}

	private EtcdLockBackend backend(String password, Duration responseTimeout) {
		return new EtcdLockBackend(Client.builder()
			.endpoints(server.endpoint())
			.user(bytes("shop"))
			.password(bytes(password))
			.interceptor(new Counter()), new EtcdLockOptions("shop", responseTimeout));
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	/** Each of these claims first requests a lease of its own. */
	private static List<CompletionStage<AcquireResult>> attempts(EtcdLockBackend backend) {
		return IntStream.range(0, REQUESTS)
			.mapToObj((i) -> lasting(LockName.of("stock", String.valueOf(i)), Duration.ofMinutes(1)))
			.map(backend::tryAcquire)
			.toList();
	}

	@Test
	void requestsAtTheSameTimeShareOneLogin() throws Exception {
		try (EtcdLockBackend backend = backend("secret")) {
			for (CompletionStage<AcquireResult> attempt : attempts(backend)) {
				assertThat(answer(attempt)).isInstanceOf(AcquireResult.Acquired.class);
			}
			assertThat(this.logins).hasValue(1);
		}
	}

	@Test
	void requestsAtTheSameTimeShareTheFailureOfALogin() {
		try (EtcdLockBackend backend = backend("wrong")) {
			for (CompletionStage<AcquireResult> attempt : attempts(backend)) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> answer(attempt))
					.havingCause()
					.isInstanceOf(LockBackendException.class)
					.withMessageContaining("Check 'distributed-lock.etcd.username' and 'password'");
			}
			assertThat(this.logins).hasValueLessThan(REQUESTS);
		}
	}

	/** The client throws an exception instead of sending the login. */
	@Test
	void requestsFailWithoutAPassword() throws Exception {
		try (EtcdLockBackend backend = backend("")) {
			for (int i = 0; i < 2; i++) {
				assertThat(ask(backend, lasting(LockName.of("stock"), Duration.ofMinutes(1))))
					.isInstanceOf(AcquireResult.Indeterminate.class);
			}
			assertThat(this.logins).hasValue(0);
		}
	}

	/** Such as if its thread could not be started. */
	@Test
	void loginWhoseResponseWasLostIsRepeated() throws Exception {
		this.losesResponses = true;
		try (EtcdLockBackend backend = backend("secret", Duration.ofMillis(500))) {
			assertThat(ask(backend, claim(LockName.of("stock")))).isInstanceOf(AcquireResult.Indeterminate.class);
			this.losesResponses = false;
			assertThat(soonGranted(backend, claim(LockName.of("order")))).isNotNull();
		}
	}

	/** A busy server needs long for a login, and a new one would keep it busier. */
	@Test
	void loginMayTakeLongerThanAnotherRequest() throws Exception {
		Duration responseTimeout = Duration.ofSeconds(1);
		this.pause = responseTimeout.multipliedBy(3).dividedBy(2);
		try (EtcdLockBackend backend = backend("secret", responseTimeout)) {
			assertThat(soonGranted(backend, claim(LockName.of("stock")))).isNotNull();
		}
	}

	private void pauseServer(Duration time, int login) {
		server.pause();
		CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
			if (this.logins.get() == login) {
				server.resume();
			}
		});
	}

	private final class Counter implements ClientInterceptor {

		@Override
		public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
			ClientCall<Q, A> call = next.newCall(method, options);
			if (!"Authenticate".equals(method.getBareMethodName())) {
				return call;
			}
			int login = EtcdLoginTests.this.logins.incrementAndGet();
			if (EtcdLoginTests.this.pause != null) {
				pauseServer(EtcdLoginTests.this.pause, login);
			}
			return EtcdLoginTests.this.losesResponses ? new Silent<>(call) : call;
		}

	}

	/** A call whose response is not delivered. */
	private static final class Silent<Q, A> extends SimpleForwardingClientCall<Q, A> {

		Silent(ClientCall<Q, A> call) {
			super(call);
		}

		@Override
		public void start(Listener<A> listener, Metadata headers) {
			super.start(new Listener<>() {
			}, headers);
		}

	}

}
