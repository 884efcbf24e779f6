package io.holdfast.lock.transaction;

import java.util.Map;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
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

	private JpaApplication() {
	}

	/**
	 * Returns the application.
	 * @param database the setting of its data source
	 */
	static ApplicationContextRunner runner(String database) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
							DataSourceAutoConfiguration.class, HibernateJpaAutoConfiguration.class,
							TransactionAutoConfiguration.class, AopAutoConfiguration.class))
			.withUserConfiguration(Entities.class)
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=0s",
					"spring.jpa.hibernate.ddl-auto=create-drop", database);
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
	@EntityScan(basePackageClasses = JpaApplication.class)
	static class Entities {

	}

}
