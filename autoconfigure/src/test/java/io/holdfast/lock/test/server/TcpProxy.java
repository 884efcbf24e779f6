package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * A wire between a client and a server that can lose things.
 */
public final class TcpProxy implements AutoCloseable {

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final AtomicReference<@Nullable String> loseReplyTo = new AtomicReference<>();

	private final AtomicReference<@Nullable Held> held = new AtomicReference<>();

	private final AtomicInteger connections = new AtomicInteger();

	private final ServerSocket listener;

	private volatile int target;

	private volatile @Nullable String refused;

	private final AtomicInteger swallowed = new AtomicInteger();

	private volatile @Nullable String swallowedText;

	private volatile CountDownLatch flowing = new CountDownLatch(0);

	private volatile CountDownLatch replying = new CountDownLatch(0);

	private final AtomicReference<@Nullable Runnable> afterReply = new AtomicReference<>();

	private volatile long delayMillis;

	private TcpProxy(ServerSocket listener, int target) {
		this.listener = listener;
		this.target = target;
	}

	/**
	 * Open a wire to a server of this machine.
	 * @param target the server's port
	 * @return the wire; to be closed
	 */
	public static TcpProxy to(int target) {
		try {
			ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName(ServerProcess.HOST));
			TcpProxy proxy = new TcpProxy(listener, target);
			daemon(proxy::accept);
			return proxy;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The port that clients use instead of the server's.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Pass the next request on that contains a text, and let its reply get lost: once the
	 * server has answered, the client's connection breaks.
	 * @param text the text
	 */
	public void loseNextReplyTo(String text) {
		this.loseReplyTo.set(text);
	}

	/**
	 * Hold the next request back that contains a text, do something, and pass it on then.
	 * @param text the text
	 * @param meanwhile what to do; runs on the wire's own thread
	 */
	public void holdNext(String text, Runnable meanwhile) {
		this.held.set(new Held(text, meanwhile));
	}

	/**
	 * Hold nothing back any more that was not met yet.
	 */
	public void holdNothing() {
		this.held.set(null);
	}

	/**
	 * Pass nothing on, in either direction, without closing anything.
	 */
	public void stall() {
		this.flowing = new CountDownLatch(1);
	}

	/**
	 * Pass on again, what was held back first.
	 */
	public void flow() {
		this.flowing.countDown();
		this.replying.countDown();
	}

	/**
	 * Pass each packet on late, in both directions.
	 * @param millis how late, or 0 for at once
	 */
	public void delay(long millis) {
		this.delayMillis = millis;
	}

	/**
	 * Do something right after the next reply has been passed on.
	 * @param task what to do, on the wire's own thread; {@code null} for nothing any more
	 */
	public void afterNextReply(@Nullable Runnable task) {
		this.afterReply.set(task);
	}

	/**
	 * Break all connections, also those that are being made. New ones are accepted at
	 * once.
	 */
	public void cut() {
		this.links.forEach(Link::close);
	}

	/**
	 * Break all connections, and from now on every one on which a request comes that
	 * contains a text.
	 * @param text the text; an empty one is in every request
	 */
	public void refuse(String text) {
		this.refused = text;
		cut();
	}

	/**
	 * Break no connection any more for what is in its requests.
	 */
	public void refuseNothing() {
		this.refused = null;
	}

	/**
	 * Break all connections, and lead new ones to another server.
	 * @param target the port of that server
	 */
	public void leadTo(int target) {
		this.target = target;
		cut();
	}

	/**
	 * From now on let no answer through that contains a text; the connection stays.
	 * @param text the text
	 */
	public void swallow(String text) {
		this.swallowedText = text;
	}

	/**
	 * How many answers were swallowed.
	 * @return the number
	 */
	public int swallowed() {
		return this.swallowed.get();
	}

	/**
	 * Pass requests on, but no replies, without closing anything; until {@link #flow()}.
	 */
	public void holdReplies() {
		this.replying = new CountDownLatch(1);
	}

	/**
	 * How often somebody has connected.
	 * @return how often, be it that the server was down
	 */
	public int connections() {
		return this.connections.get();
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				connect(this.listener.accept());
			}
			catch (IOException ex) {
				// this wire is closed
			}
		}
	}

	/**
	 * A link is known before it connects: what breaks all connections breaks this one
	 * too, or comes before the look at where it leads and whether it may be there.
	 */
	private void connect(Socket client) {
		Link link = new Link(client);
		this.links.add(link);
		this.connections.incrementAndGet();
		try {
			if (this.listener.isClosed()) {
				// accepted by the system while close() was under way
				throw new IOException("closed");
			}
			link.connect(this.target);
			daemon(link::passRequests);
			daemon(link::passReplies);
		}
		catch (IOException ex) {
			// the server is down or this wire is cut, and the client is to see it
			link.close();
		}
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			// it is of no more use either way
		}
		flow();
		cut();
	}

	private static void daemon(Runnable task) {
		Thread thread = new Thread(task, "tcp-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	/** One connection through the wire. */
	private final class Link {

		private final Socket client;

		private final Socket server = new Socket();

		private volatile boolean losing;

		Link(Socket client) {
			this.client = client;
		}

		void connect(int target) throws IOException {
			// small packets are passed on at once, as without the wire
			this.client.setTcpNoDelay(true);
			this.server.setTcpNoDelay(true);
			this.server.connect(new InetSocketAddress(ServerProcess.HOST, target));
		}

		void passRequests() {
			pass(this.client, this.server, true);
		}

		void passReplies() {
			pass(this.server, this.client, false);
		}

		private void pass(Socket from, Socket to, boolean requests) {
			try (DelayedStream out = new DelayedStream(to.getOutputStream())) {
				InputStream in = from.getInputStream();
				byte[] buffer = new byte[64 * 1024];
				for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
					if (requests) {
						watch(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
					}
					else if (this.losing) {
						break;
					}
					else if (swallows(new String(buffer, 0, read, StandardCharsets.ISO_8859_1))) {
						continue;
					}
					await(TcpProxy.this.flowing);
					if (!requests) {
						await(TcpProxy.this.replying);
					}
					out.write(buffer, read, TcpProxy.this.delayMillis);
					if (!requests) {
						replied();
					}
				}
			}
			catch (IOException ex) {
				// one side has gone, so the other goes too
			}
			close();
		}

		private void watch(String request) throws IOException {
			String refused = TcpProxy.this.refused;
			if (refused != null && request.contains(refused)) {
				throw new IOException("refused");
			}
			String text = TcpProxy.this.loseReplyTo.get();
			if (text != null && request.contains(text) && TcpProxy.this.loseReplyTo.compareAndSet(text, null)) {
				this.losing = true;
			}
			Held next = TcpProxy.this.held.get();
			if (next != null && request.contains(next.text()) && TcpProxy.this.held.compareAndSet(next, null)) {
				next.meanwhile().run();
			}
		}

		private void replied() {
			Runnable task = TcpProxy.this.afterReply.getAndSet(null);
			if (task != null) {
				task.run();
			}
		}

		private boolean swallows(String reply) {
			String text = TcpProxy.this.swallowedText;
			boolean swallows = text != null && reply.contains(text);
			if (swallows) {
				TcpProxy.this.swallowed.incrementAndGet();
			}
			return swallows;
		}

		private static void await(CountDownLatch latch) throws InterruptedIOException {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				throw new InterruptedIOException();
			}
		}

		void close() {
			for (Socket socket : new Socket[] { this.client, this.server }) {
				try {
					socket.close();
				}
				catch (IOException ex) {
					// already gone
				}
			}
			TcpProxy.this.links.remove(this);
		}

	}

	/**
	 * A request to be held back.
	 *
	 * @param text what is in it
	 * @param meanwhile what happens until it is passed on
	 */
	private record Held(String text, Runnable meanwhile) {
	}

}
