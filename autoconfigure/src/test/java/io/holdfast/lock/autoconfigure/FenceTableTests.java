package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FenceTable}.
 */
@ExtendWith(OutputCaptureExtension.class)
class FenceTableTests {

	@Test
	void databaseThatRejectsConnectionsDoesNotStopTheStart(CapturedOutput output) {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
							DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
							DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=local")
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:absent;IFEXISTS=TRUE")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The fence table 'holdfast_fence' could not be checked (")
			.contains("mem:absent", "'distributed-lock.fencing.enabled=false'");
	}

}
