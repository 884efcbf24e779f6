package io.holdfast.lock.transaction;

import java.util.Map;
import java.util.function.Consumer;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.context.request.ServletWebRequest;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with local locks and the entities of this package.
 */
final class JpaApplication {

	/** The setting of an H2 database for one application. */
	static final String IN_MEMORY = "spring.datasource.generate-unique-name=true";

	private static final String[] SETTINGS = { "distributed-lock.backend=local", "distributed-lock.wait-time=0s",
			"spring.jpa.hibernate.ddl-auto=create-drop" };

	private static @Nullable ConfigurableApplicationContext shared;

	private JpaApplication() {
	}

	/**
	 * Runs a test in an application with an empty database in memory. All tests of this
	 * JVM share it, because a start of Hibernate takes longer than most of them. A test
	 * that fails may leave something behind, so the next one gets a new application.
	 */
	static void run(Consumer<ApplicationContext> test) {
		ConfigurableApplicationContext application = (shared != null) ? shared : start();
		shared = null;
		try {
			application.getBean(EntityManagerFactory.class).getSchemaManager().truncate();
			test.accept(application);
			shared = application;
		}
		finally {
			if (shared == null) {
				application.close();
			}
		}
	}

	private static ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(Entities.class, ArticleApplication.Stock.class,
				ArticleApplication.Caller.class)
			.web(WebApplicationType.NONE)
			.properties(SETTINGS)
			.properties(IN_MEMORY)
			.run();
	}

	/**
	 * Returns the application.
	 * @param database the setting of its data source
	 */
	static ApplicationContextRunner runner(String database) {
		return new ApplicationContextRunner().withUserConfiguration(Entities.class)
			.withPropertyValues(SETTINGS)
			.withPropertyValues(database);
	}

	/** Runs a request whose persistence context stays open until the request ends. */
	static void inOpenView(EntityManagerFactory factory, Runnable request) {
		OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
		view.setEntityManagerFactory(factory);
		ServletWebRequest web = new ServletWebRequest(new MockHttpServletRequest());
		view.preHandle(web);
		try {
			request.run();
		}
		finally {
			EntityManager bound = bound(factory);
			view.afterCompletion(web, null);
			assertThat(bound.isOpen()).as("open after the request").isFalse();
		}
	}

	/** Returns the persistence context that is bound to the current thread. */
	static EntityManager bound(EntityManagerFactory factory) {
		return ((EntityManagerHolder) Map.copyOf(TransactionSynchronizationManager.getResourceMap()).get(factory))
			.getEntityManager();
	}

	static void assertNothingIsBound() {
		assertThat(LockContext.handles()).isEmpty();
		assertThat(TransactionSynchronizationManager.getResourceMap()).as("bound to the thread").isEmpty();
	}

	/**
	 * Scans for the entities.
	 */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
			DataSourceAutoConfiguration.class, HibernateJpaAutoConfiguration.class, TransactionAutoConfiguration.class,
			AopAutoConfiguration.class })
	@EntityScan(basePackageClasses = JpaApplication.class)
	static class Entities {

	}

}
