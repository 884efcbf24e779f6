package io.holdfast.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockHandle;

/**
 * Sits in each process and writes down when its transactions were under which lock, on
 * the clock that all processes of a machine share and that nobody moves.
 */
@Configuration(proxyBeanMethods = false)
class Witness {

	/** Where it writes, in the directory of its process. */
	static final String FILE = "transactions.csv";

	@Bean
	static TransactionExecutionListener transactionWitness() {
		Map<TransactionExecution, Long> begins = new ConcurrentHashMap<>();
		return new TransactionExecutionListener() {

			@Override
			public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
				if (failure == null) {
					begins.put(transaction, System.nanoTime());
				}
			}

			@Override
			public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
				over(transaction);
			}

			@Override
			public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
				over(transaction);
			}

			private void over(TransactionExecution transaction) {
				Long begin = begins.remove(transaction);
				if (begin != null) {
					LockHandle.current().ifPresent((handle) -> write(handle.name() + "," + begin));
				}
			}

		};
	}

	private static void write(String transaction) {
		try {
			Files.writeString(Path.of(FILE), transaction + "," + System.nanoTime() + "\n", StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
