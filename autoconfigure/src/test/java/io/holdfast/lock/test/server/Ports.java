package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Allocates loopback ports for the servers of tests, each to one JVM only.
 *
 * <p>
 * Tests run in several JVMs at the same time. A server opens its port only some time
 * after the test has chosen it, and again after a restart. Therefore, a port is reserved
 * from the time it is chosen until its JVM ends. All JVMs share a lock file, in which a
 * locked byte stands for each reserved port. The operating system releases these locks
 * when a JVM ends, even if it crashes.
 *
 * <p>
 * All ports are below the ephemeral range of the operating system, so no connection takes
 * a port while its server restarts.
 */
final class Ports {

	private static final int FIRST = 10_000;

	private static final int END = 32_000;

	private static final int ATTEMPTS = 1_000;

	/** Stays open, because closing it would release the locks of all ports. */
	private static final FileChannel TAKEN = open();

	private Ports() {
	}

	private static FileChannel open() {
		Path file = Path.of(System.getProperty("java.io.tmpdir"),
				"holdfast-ports-" + System.getProperty("user.name") + ".lock");
		try {
			return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot reserve ports in " + file, ex);
		}
	}

	static int next() {
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, END);
			if (reserve(port)) {
				return port;
			}
		}
		throw new IllegalStateException("Found no free port on " + ServerProcess.HOST);
	}

	/** Reserves a port for this JVM, and returns whether the port was available. */
	static boolean reserve(int port) {
		try {
			FileLock lock = TAKEN.tryLock(port, 1, false);
			if (lock == null) {
				return false;
			}
			if (isOpen(port)) {
				lock.release();
				return false;
			}
			return true;
		}
		catch (OverlappingFileLockException ex) {
			return false;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Whether another socket on this machine uses the port. */
	private static boolean isOpen(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(ServerProcess.HOST))) {
			return !socket.isBound();
		}
		catch (IOException ex) {
			return true;
		}
	}

}
