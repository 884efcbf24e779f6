package io.holdfast.lock.test.server;

import java.nio.file.Path;

/**
 * The file system in memory, for servers whose data no test reads from a disk.
 */
final class MemoryDisk {

	/** The file system of Linux in memory. */
	private static final Path MEMORY = Path.of("/dev/shm");

	/** A member of etcd allocates two files of 64 MB, and several clusters may run. */
	private static final long ROOM = 4_000_000_000L;

	private MemoryDisk() {
	}

	/**
	 * Returns a directory in memory if it has room, else that for temporary files. etcd
	 * waits for the disk at each write, which may take seconds on a busy disk, and has no
	 * option against that. The many files of a database need processor time on a disk.
	 */
	static Path directory() {
		boolean hasRoom = MEMORY.toFile().getUsableSpace() > ROOM;
		return hasRoom ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
	}

}
