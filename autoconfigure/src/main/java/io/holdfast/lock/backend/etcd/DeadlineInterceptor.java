package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;

/**
 * Gives every request a deadline, which jetcd does not: a server that is silent would be
 * waited for without end. A watch is meant to stay open, and the keep-alive stream is
 * opened for one request only.
 */
final class DeadlineInterceptor implements ClientInterceptor {

	private static final String WATCH = "etcdserverpb.Watch";

	private final Duration timeout;

	DeadlineInterceptor(Duration timeout) {
		this.timeout = timeout;
	}

	@Override
	public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
		return next.newCall(method, WATCH.equals(method.getServiceName()) ? options
				: options.withDeadlineAfter(this.timeout.toNanos(), TimeUnit.NANOSECONDS));
	}

}
