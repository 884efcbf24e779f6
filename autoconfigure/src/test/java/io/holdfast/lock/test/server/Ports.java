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
 * Loopback ports for the servers of tests, each for one JVM only.
 *
 * <p>
 * Tests run in several JVMs at once, and a server opens its port only some time after a
 * test has chosen it, or again after a restart. A port therefore counts as taken from
 * when it was chosen until its JVM ends: one byte of a file that all JVMs share stands
 * for each port and is locked. The operating system unlocks what a JVM leaves, however it
 * ends.
 *
 * <p>
 * All ports lie below the range from which the system gives ports to clients, so that no
 * connection takes one while its server restarts.
 */
final class Ports {

	private static final int FIRST = 10_000;

	private static final int END = 32_000;

	private static final int ATTEMPTS = 1_000;

	/** Stays open: to close it would unlock all ports. */
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

	/** Whether it is this JVM's from now on. */
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

	/** Whether anything else on this machine listens there. */
	private static boolean isOpen(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(ServerProcess.HOST))) {
			return !socket.isBound();
		}
		catch (IOException ex) {
			return true;
		}
	}

}
