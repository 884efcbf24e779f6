package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Customizes the channels of Lettuce: writes requests that are due at the same time
 * together, closes a channel whose server does not respond, and notes the event loops.
 */
final class LettuceChannels implements NettyCustomizer {

	/**
	 * Longest run of requests that are written together. If all callers are in one run,
	 * Redis waits while this client prepares the next one, and the other way round.
	 */
	private static final int FLUSH_AFTER = 12;

	/**
	 * Threads of each kind of a client that has its own: it has few connections, and
	 * requests are short and never block a thread.
	 */
	private static final int THREADS = 2;

	private static final Duration FIRST_RECONNECTION = Duration.ofMillis(100);

	private static final Duration LAST_RECONNECTION = Duration.ofSeconds(1);

	private final Set<EventExecutorGroup> loops = ConcurrentHashMap.newKeySet();

	private final @Nullable ClientResources shared;

	private final Duration silence;

	/**
	 * Creates a customizer.
	 * @param shared the resources that another client also uses, or {@code null}
	 * @param silence time after which a channel without any response is closed
	 */
	LettuceChannels(@Nullable ClientResources shared, Duration silence) {
		this.shared = shared;
		this.silence = silence;
	}

	/**
	 * Returns resources with these channels. Shutting them down leaves shared resources
	 * as they are.
	 */
	ClientResources resources() {
		ClientResources.Builder builder = ClientResources.builder()
			.nettyCustomizer(this)
			.reconnectDelay(() -> Delay.equalJitter(FIRST_RECONNECTION, LAST_RECONNECTION,
					FIRST_RECONNECTION.toMillis(), TimeUnit.MILLISECONDS))
			.commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled());
		if (this.shared == null) {
			return builder.commandLatencyRecorder(CommandLatencyRecorder.disabled())
				.ioThreadPoolSize(THREADS)
				.computationThreadPoolSize(THREADS)
				.build();
		}
		return builder.eventLoopGroupProvider(this.shared.eventLoopGroupProvider())
			.eventExecutorGroup(this.shared.eventExecutorGroup())
			.timer(this.shared.timer())
			.eventBus(this.shared.eventBus())
			.addressResolverGroup(this.shared.addressResolverGroup())
			.socketAddressResolver(this.shared.socketAddressResolver())
			.commandLatencyRecorder(this.shared.commandLatencyRecorder())
			.tracing(this.shared.tracing())
			.build();
	}

	@Override
	public void afterBootstrapInitialized(Bootstrap bootstrap) {
		if (this.shared != null) {
			this.shared.nettyCustomizer().afterBootstrapInitialized(bootstrap);
		}
	}

	@Override
	public void afterChannelInitialized(Channel channel) {
		if (this.shared != null) {
			this.shared.nettyCustomizer().afterChannelInitialized(channel);
		}
		EventExecutorGroup group = channel.eventLoop().parent();
		this.loops.add((group != null) ? group : channel.eventLoop());
		channel.pipeline()
			.addFirst(new FlushConsolidationHandler(FLUSH_AFTER, true))
			.addFirst(new SilentChannelHandler(this.silence));
	}

	boolean answersOn(Thread thread) {
		for (EventExecutorGroup group : this.loops) {
			for (EventExecutor loop : group) {
				if (loop.inEventLoop(thread)) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Closes a channel that has received nothing for some time after a request. A
	 * connection to a server that has vanished would otherwise stay for minutes, until
	 * TCP stops repeating its segments. Lettuce then connects again.
	 */
	static final class SilentChannelHandler extends ChannelDuplexHandler {

		/** Number of checks that must find the channel silent. */
		private static final int CHECKS = 3;

		private final Duration silence;

		private @Nullable Future<?> checks;

		private boolean waiting;

		private int silentChecks;

		SilentChannelHandler(Duration silence) {
			this.silence = silence;
		}

		@Override
		public void handlerAdded(ChannelHandlerContext context) {
			long period = this.silence.dividedBy(CHECKS).toNanos();
			this.checks = context.executor()
				.scheduleAtFixedRate(() -> check(context), period, period, TimeUnit.NANOSECONDS);
		}

		@Override
		public void handlerRemoved(ChannelHandlerContext context) {
			if (this.checks != null) {
				this.checks.cancel(false);
			}
		}

		@Override
		public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
			this.waiting = true;
			context.write(message, promise);
		}

		@Override
		public void channelRead(ChannelHandlerContext context, Object message) {
			this.waiting = false;
			this.silentChecks = 0;
			context.fireChannelRead(message);
		}

		private void check(ChannelHandlerContext context) {
			if (this.waiting && ++this.silentChecks > CHECKS) {
				context.close();
			}
		}

	}

}
