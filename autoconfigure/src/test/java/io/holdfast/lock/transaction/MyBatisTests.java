package io.holdfast.lock.transaction;

import javax.sql.DataSource;

import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.SqlSessionTemplate;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a MyBatis session in a caller's transaction answers a repeated query from
 * memory, but not under a lock.
 */
class MyBatisTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockTransactionAutoConfiguration.class,
				DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withUserConfiguration(MyBatis.class)
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");

	@Test
	void queryCachedByTheCallerIsRepeatedUnderTheLock() {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE goods (amount INT)");
			jdbc.update("INSERT INTO goods VALUES (100)");
			Goods goods = context.getBean(SqlSessionTemplate.class).getMapper(Goods.class);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				assertThat(goods.amount()).isEqualTo(100);
				jdbc.update("UPDATE goods SET amount = 99");
				assertThat(goods.amount()).as("from memory").isEqualTo(100);
				context.getBean(LockOperations.class).execute(LockRequest.of("goods"), (handle) -> {
					assertThat(goods.amount()).isEqualTo(99);
					return null;
				});
			});
		});
	}

	interface Goods {

		@Select("SELECT amount FROM goods")
		int amount();

	}

	@Configuration(proxyBeanMethods = false)
	static class MyBatis {

		@Bean
		SqlSessionFactory sqlSessionFactory(DataSource dataSource) throws Exception {
			SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
			factory.setDataSource(dataSource);
			org.apache.ibatis.session.Configuration configuration = new org.apache.ibatis.session.Configuration();
			configuration.addMapper(Goods.class);
			factory.setConfiguration(configuration);
			return factory.getObject();
		}

		@Bean
		SqlSessionTemplate sqlSessionTemplate(SqlSessionFactory factory) {
			return new SqlSessionTemplate(factory);
		}

	}

}
