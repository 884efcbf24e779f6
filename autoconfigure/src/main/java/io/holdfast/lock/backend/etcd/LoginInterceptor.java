package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Sends one login at a time, for all requests that need one. jetcd sends one for each
 * request until it has a token. A login takes etcd so much processor time that many at
 * once are not answered in time, and then no request gets a token for as long as requests
 * arrive.
 */
final class LoginInterceptor implements ClientInterceptor {

	private static final String LOGIN = "etcdserverpb.Auth";

	/**
	 * Of the response timeout. A busy server may need that long to verify a password, and
	 * does not stop when the client gives up: every further login would delay it more.
	 */
	private static final int LOGIN_TIMEOUTS = 3;

	private final Duration timeout;

	private final AtomicReference<@Nullable Login> present = new AtomicReference<>();

	/**
	 * Creates an interceptor.
	 * @param responseTimeout the longest wait for the response to a login
	 */
	LoginInterceptor(Duration responseTimeout) {
		this.timeout = responseTimeout.multipliedBy(LOGIN_TIMEOUTS + 1);
	}

	/** Returns the longest wait for the response to a request. */
	static Duration timeoutOf(MethodDescriptor<?, ?> method, Duration responseTimeout) {
		return LOGIN.equals(method.getServiceName()) ? responseTimeout.multipliedBy(LOGIN_TIMEOUTS) : responseTimeout;
	}

	@Override
	public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
		CallCredentials credentials = options.getCredentials();
		return next.newCall(method,
				(credentials != null) ? options.withCallCredentials(new SharedCredentials(credentials)) : options);
	}

	/** The credentials of one request. */
	private final class SharedCredentials extends CallCredentials {

		private final CallCredentials credentials;

		SharedCredentials(CallCredentials credentials) {
			this.credentials = credentials;
		}

		/**
		 * Applies the token, after a login if necessary. A request that has waited for
		 * the login of another one shares its failure.
		 */
		@Override
		public void applyRequestMetadata(RequestInfo request, Executor executor, MetadataApplier applier) {
			Login mine = new Login(applier);
			Login other = LoginInterceptor.this.present.compareAndExchange(null, mine);
			if (other != null && other.limit.isExpired()) {
				other.fail(Status.DEADLINE_EXCEEDED);
				other = LoginInterceptor.this.present.compareAndExchange(null, mine);
			}
			if (other == null) {
				send(request, executor, mine);
				return;
			}
			other.end.thenAccept((failure) -> {
				if (failure.isOk()) {
					applyRequestMetadata(request, executor, applier);
				}
				else {
					applier.fail(failure);
				}
			});
		}

		private void send(RequestInfo request, Executor executor, Login login) {
			try {
				this.credentials.applyRequestMetadata(request, executor, login);
			}
			catch (RuntimeException ex) {
				login.fail(Status.UNAUTHENTICATED.withCause(ex));
			}
		}

	}

	/**
	 * The request for a token. It ends at once if jetcd has one.
	 */
	private final class Login extends CallCredentials.MetadataApplier {

		private final CallCredentials.MetadataApplier applier;

		private final CompletableFuture<Status> end = new CompletableFuture<>();

		/**
		 * Later than the response, which is lost if its thread cannot be started. All
		 * later requests would then wait for it.
		 */
		private final Deadline limit = Deadline.after(LoginInterceptor.this.timeout.toMillis(), TimeUnit.MILLISECONDS);

		Login(CallCredentials.MetadataApplier applier) {
			this.applier = applier;
		}

		@Override
		public void apply(Metadata token) {
			if (end(Status.OK)) {
				this.applier.apply(token);
			}
		}

		@Override
		public void fail(Status status) {
			if (end(status)) {
				this.applier.fail(status);
			}
		}

		private boolean end(Status status) {
			LoginInterceptor.this.present.compareAndSet(this, null);
			return this.end.complete(status);
		}

	}

}
