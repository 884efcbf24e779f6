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
 * A TCP proxy between clients and a server that can delay, drop, and break their traffic.
 */
public final class TcpProxy implements AutoCloseable {

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final AtomicReference<@Nullable String> loseReplyTo = new AtomicReference<>();

	private final AtomicReference<@Nullable Held> held = new AtomicReference<>();

	private final AtomicInteger connections = new AtomicInteger();

	private final ServerSocket listener;

	private volatile int target;

	private volatile @Nullable String refused;

	private final AtomicInteger droppedReplies = new AtomicInteger();

	private volatile @Nullable String droppedText;

	private volatile CountDownLatch flowing = new CountDownLatch(0);

	private volatile CountDownLatch replying = new CountDownLatch(0);

	private final AtomicReference<@Nullable Runnable> afterReply = new AtomicReference<>();

	private volatile long delayMillis;

	private TcpProxy(ServerSocket listener, int target) {
		this.listener = listener;
		this.target = target;
	}

	/**
	 * Opens a proxy to a server on this machine.
	 * @param target the port of the server
	 * @return the proxy, which the caller must close
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
	 * Returns the port that clients use instead of the server's port.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Loses the reply to the next request that contains a text. The proxy forwards the
	 * request, and breaks the client's connection once the server has responded.
	 * @param text the text
	 */
	public void loseNextReplyTo(String text) {
		this.loseReplyTo.set(text);
	}

	/**
	 * Holds back the next request that contains a text, runs a task, and then forwards
	 * the request.
	 * @param text the text
	 * @param meanwhile the task, which runs on a thread of the proxy
	 */
	public void holdNext(String text, Runnable meanwhile) {
		this.held.set(new Held(text, meanwhile));
	}

	/**
	 * Cancels {@link #holdNext} if no request has matched yet.
	 */
	public void holdNothing() {
		this.held.set(null);
	}

	/**
	 * Stops all traffic in both directions, without closing connections.
	 */
	public void stall() {
		this.flowing = new CountDownLatch(1);
	}

	/**
	 * Resumes the traffic, starting with the data held back.
	 */
	public void flow() {
		this.flowing.countDown();
		this.replying.countDown();
	}

	/**
	 * Delays each packet, in both directions.
	 * @param millis the delay in milliseconds, or 0 for no delay
	 */
	public void delay(long millis) {
		this.delayMillis = millis;
	}

	/**
	 * Runs a task right after the next reply has been forwarded.
	 * @param task the task, which runs on a thread of the proxy; {@code null} cancels a
	 * pending task
	 */
	public void afterNextReply(@Nullable Runnable task) {
		this.afterReply.set(task);
	}

	/**
	 * Breaks all connections, including those being established. Accepts new connections
	 * immediately.
	 */
	public void cut() {
		this.links.forEach(Link::close);
	}

	/**
	 * Breaks all connections. From now on, also breaks each connection on which a request
	 * contains a text.
	 * @param text the text; every request contains the empty text
	 */
	public void refuse(String text) {
		this.refused = text;
		cut();
	}

	/**
	 * Stops breaking connections based on the content of requests.
	 */
	public void refuseNothing() {
		this.refused = null;
	}

	/**
	 * Breaks all connections, and forwards new connections to another server.
	 * @param target the port of that server
	 */
	public void redirectTo(int target) {
		this.target = target;
		cut();
	}

	/**
	 * Forwards new connections to another server. Existing connections stay.
	 * @param target the port of that server
	 */
	public void forwardNewTo(int target) {
		this.target = target;
	}

	/**
	 * Drops each response that contains a text from now on. The connection stays open.
	 * @param text the text
	 */
	public void dropReplies(String text) {
		this.droppedText = text;
	}

	/**
	 * Returns the number of dropped responses.
	 * @return the number
	 */
	public int droppedReplies() {
		return this.droppedReplies.get();
	}

	/**
	 * Forwards requests but no replies, without closing connections, until
	 * {@link #flow()} is called.
	 */
	public void holdReplies() {
		this.replying = new CountDownLatch(1);
	}

	/**
	 * Returns the number of connections that clients have opened.
	 * @return the number, including connections opened while the server was down
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
				// the proxy is closed
			}
		}
	}

	/**
	 * Registers the link before connecting it. A concurrent cut therefore either breaks
	 * this link, or happens before the target and the state of the listener are read.
	 */
	private void connect(Socket client) {
		Link link = new Link(client);
		this.links.add(link);
		this.connections.incrementAndGet();
		try {
			if (this.listener.isClosed()) {
				// the system accepted the connection while close() was in progress
				throw new IOException("closed");
			}
			link.connect(this.target);
			daemon(link::passRequests);
			daemon(link::passReplies);
		}
		catch (IOException ex) {
			// the server is down or the proxy was cut, and the client must notice
			link.close();
		}
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			// the proxy is unusable in either case
		}
		flow();
		cut();
	}

	private static void daemon(Runnable task) {
		Thread thread = new Thread(task, "tcp-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	/** A connection through the proxy. */
	private final class Link {

		private final Socket client;

		private final Socket server = new Socket();

		private volatile boolean losing;

		Link(Socket client) {
			this.client = client;
		}

		void connect(int target) throws IOException {
			// forward small packets immediately, as without a proxy
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
					else if (drops(new String(buffer, 0, read, StandardCharsets.ISO_8859_1))) {
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
				// one side has closed its connection, so close the other
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

		private boolean drops(String reply) {
			String text = TcpProxy.this.droppedText;
			boolean drops = text != null && reply.contains(text);
			if (drops) {
				TcpProxy.this.droppedReplies.incrementAndGet();
			}
			return drops;
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
					// already closed
				}
			}
			TcpProxy.this.links.remove(this);
		}

	}

	/**
	 * A request to hold back.
	 *
	 * @param text the text that the request contains
	 * @param meanwhile the task to run before the request is forwarded
	 */
	private record Held(String text, Runnable meanwhile) {
	}

}
