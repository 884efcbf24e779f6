package io.holdfast.sample;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * A file with a fence. Its first line is the token of its last writer, and a write with a
 * smaller token is rejected. A reader sees the old or the new file, never a part of it.
 */
final class PriceList {

	private final Path file;

	PriceList(Path file) {
		this.file = file;
	}

	// tag::file[]
	/** The lock of the file is for other processes, the monitor for other threads. */
	synchronized void write(LockHandle hold, String prices) throws IOException {
		Path gate = this.file.resolveSibling(this.file.getFileName() + ".gate");
		try (FileChannel channel = FileChannel.open(gate, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				FileLock alone = channel.lock()) {
			long token = hold.fencingToken().value();
			if (token < seenToken()) {
				throw new StaleFencingTokenException(hold.lock(), hold.backend(),
						"The price list was written by a newer holder of '%s'".formatted(hold.lock()));
			}
			Path next = this.file.resolveSibling(this.file.getFileName() + ".next");
			Files.writeString(next, token + "\n" + prices);
			Files.move(next, this.file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
		}
	}
	// end::file[]

	private long seenToken() throws IOException {
		return Files.exists(this.file) ? Long.parseLong(Files.readAllLines(this.file).get(0)) : 0;
	}

	String prices() throws IOException {
		String text = Files.readString(this.file);
		return text.substring(text.indexOf('\n') + 1);
	}

}
