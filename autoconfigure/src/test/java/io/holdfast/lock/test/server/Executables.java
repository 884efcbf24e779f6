package io.holdfast.lock.test.server;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the programs of servers. The first one on the path counts, so that tests can use
 * another version than the installed one.
 */
final class Executables {

	private Executables() {
	}

	/** Returns a program, also from a directory that only the path of root contains. */
	static Optional<Path> find(String program) {
		return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
			.map((directory) -> Path.of(directory, program))
			.filter(Files::isExecutable)
			.findFirst();
	}

	/**
	 * Returns a program, or fails if it is not installed.
	 * @param debianPackage the package that contains it
	 */
	static Path require(String program, String debianPackage) {
		return find(program).orElseThrow(() -> ServerProcess.notInstalled(program, debianPackage));
	}

}
