package io.holdfast.lock.backend.etcd;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts the calls of a client to a real etcd: counts requests, makes one of them
 * fail, and changes responses.
 */
final class FaultyCalls implements ClientInterceptor {

	private final AtomicInteger sent = new AtomicInteger();

	private volatile int failingRequest = -1;

	private volatile boolean carriedOut;

	private volatile UnaryOperator<Object> change = UnaryOperator.identity();

	/** Returns the number of requests since the last call of this method. */
	int sent() {
		return this.sent.getAndSet(0);
	}

	/**
	 * Makes one of the next requests fail.
	 * @param number the number of requests that succeed before it
	 * @param carriedOut whether etcd carries out the request, so that only the response
	 * is lost
	 */
	void fail(int number, boolean carriedOut) {
		this.carriedOut = carriedOut;
		this.failingRequest = number;
		this.sent.set(0);
	}

	/** Changes the responses of etcd, of any kind. */
	void change(UnaryOperator<Object> change) {
		this.change = change;
	}

	@Override
	public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
		boolean fails = this.sent.getAndIncrement() == this.failingRequest;
		return new SimpleForwardingClientCall<>(next.newCall(method, options)) {

			private final boolean lost = fails && !FaultyCalls.this.carriedOut;

			private volatile boolean cancelled;

			@Override
			public void start(Listener<A> listener, Metadata headers) {
				super.start(new Answers<>(this, listener, fails), headers);
				if (this.lost) {
					cancel("lost on the way there", null);
				}
			}

			@Override
			public void sendMessage(Q message) {
				if (!this.lost) {
					unlessCancelled(() -> super.sendMessage(message));
				}
			}

			@Override
			public void halfClose() {
				if (!this.lost) {
					unlessCancelled(super::halfClose);
				}
			}

			/** A response may arrive, and be lost, before the request is complete. */
			private void unlessCancelled(Runnable action) {
				try {
					action.run();
				}
				catch (IllegalStateException ex) {
					if (!this.cancelled) {
						throw ex;
					}
				}
			}

			@Override
			public void cancel(@Nullable String message, @Nullable Throwable cause) {
				this.cancelled = true;
				super.cancel(message, cause);
			}

		};
	}

	/**
	 * The responses to one request.
	 */
	private final class Answers<A> extends SimpleForwardingClientCallListener<A> {

		private final ClientCall<?, A> call;

		private final boolean lost;

		Answers(ClientCall<?, A> call, ClientCall.Listener<A> listener, boolean lost) {
			super(listener);
			this.call = call;
			this.lost = lost;
		}

		@Override
		@SuppressWarnings("unchecked")
		public void onMessage(A answer) {
			if (this.lost) {
				this.call.cancel("lost on the way back", null);
			}
			else {
				super.onMessage((A) FaultyCalls.this.change.apply(answer));
			}
		}

		@Override
		public void onClose(Status status, Metadata trailers) {
			super.onClose(this.lost ? Status.UNAVAILABLE.withDescription("lost by the test") : status, trailers);
		}

	}

}
