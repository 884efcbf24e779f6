package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.MethodDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Sets a deadline for every request, because jetcd sets none and would wait forever for a
 * silent server. Watches are exempt, because they stay open. The keep-alive stream is
 * not, because it is opened for one request only. Also sets the executor that delivers
 * the answers: jetcd passes its own to no channel.
 */
final class DeadlineInterceptor implements ClientInterceptor {

	private static final String WATCH = "etcdserverpb.Watch";

	private final Duration timeout;

	private final Executor answers;

	/**
	 * Creates an interceptor.
	 * @param timeout the longest wait for a response
	 * @param answers delivers the answers, including the events of watches
	 */
	DeadlineInterceptor(Duration timeout, Executor answers) {
		this.timeout = timeout;
		this.answers = answers;
	}

	@Override
	public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
		CallOptions answered = options.withExecutor(this.answers);
		if (WATCH.equals(method.getServiceName())) {
			return next.newCall(method, answered);
		}
		Duration longest = LoginInterceptor.timeoutOf(method, this.timeout);
		return new LateCall<>(
				() -> next.newCall(method, answered.withDeadlineAfter(longest.toNanos(), TimeUnit.NANOSECONDS)));
	}

	/**
	 * A call that is created when it starts. The time until then, on a busy machine, does
	 * not count against the server.
	 */
	private static final class LateCall<Q, A> extends ForwardingClientCall<Q, A> {

		private final Supplier<ClientCall<Q, A>> factory;

		private @Nullable ClientCall<Q, A> call;

		LateCall(Supplier<ClientCall<Q, A>> factory) {
			this.factory = factory;
		}

		@Override
		protected synchronized ClientCall<Q, A> delegate() {
			if (this.call == null) {
				this.call = this.factory.get();
			}
			return this.call;
		}

	}

}
