package io.holdfast.lock.transaction;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import org.hibernate.CacheMode;
import org.hibernate.Session;
import org.hibernate.StatelessSession;
import org.hibernate.boot.spi.SessionFactoryOptions;
import org.hibernate.cache.cfg.spi.DomainDataRegionBuildingContext;
import org.hibernate.cache.cfg.spi.DomainDataRegionConfig;
import org.hibernate.cache.spi.support.DomainDataStorageAccess;
import org.hibernate.cache.spi.support.RegionFactoryTemplate;
import org.hibernate.cache.spi.support.StorageAccess;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that Hibernate's second-level cache is not used under a lock. The cache of one
 * instance does not see the commits of another.
 */
class SecondLevelCacheTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, DataSourceAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, HibernateJpaAutoConfiguration.class,
				TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withUserConfiguration(Entities.class)
		.withBean(Stock.class)
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true",
				"spring.jpa.properties.hibernate.cache.use_second_level_cache=true",
				"spring.jpa.properties.hibernate.cache.region.factory_class=" + InMemory.class.getName());

	@Test
	void lockedTransactionReadsPastTheCacheAndOthersDoNot() {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			Stock stock = context.getBean(Stock.class);
			JdbcTemplate otherInstance = context.getBean(JdbcTemplate.class);
			stock.add();
			assertThat(stock.amount()).isEqualTo(100);
			otherInstance.update("UPDATE cached SET amount = 99");
			assertThat(stock.amount()).as("without a lock, the cache answers").isEqualTo(100);
			assertThat(stock.amountUnderTheLock()).isEqualTo(99);
			otherInstance.update("UPDATE cached SET amount = 98");
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(stock.inTransaction(() -> locks.execute(LockRequest.of("stock"), (handle) -> stock.amount())))
				.as("in a caller's transaction")
				.isEqualTo(98);
		});
	}

	/** Hibernate gives no occasion to set the mode of a session without a context. */
	@Test
	void statelessSessionReadsPastTheCacheIfTheCallerSaysSo() {
		this.runner.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			stock.add();
			assertThat(stock.amount()).isEqualTo(100);
			context.getBean(JdbcTemplate.class).update("UPDATE cached SET amount = 99");
			assertThat(stock.amountOfAStatelessSession()).isEqualTo(99);
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = SecondLevelCacheTests.class)
	static class Entities {

	}

	static class Stock {

		@PersistenceContext
		private EntityManager entities;

		@Transactional
		public void add() {
			this.entities.persist(new Cached());
		}

		@Transactional
		public int amount() {
			return this.entities.find(Cached.class, 1L).amount;
		}

		@DistributedLock("stock")
		@Transactional
		public int amountUnderTheLock() {
			return this.entities.find(Cached.class, 1L).amount;
		}

		@DistributedLock("stock")
		@Transactional
		public int amountOfAStatelessSession() {
			try (StatelessSession session = this.entities.unwrap(Session.class)
				.statelessWithOptions()
				.connection()
				.open()) {
				session.setCacheMode(CacheMode.IGNORE);
				return session.get(Cached.class, 1L).amount;
			}
		}

		@Transactional
		public int inTransaction(IntSupplier call) {
			return call.getAsInt();
		}

	}

	@Entity(name = "cached")
	@Cacheable
	static class Cached {

		@Id
		private long id = 1;

		private int amount = 100;

		protected Cached() {
		}

	}

	/** An in-memory cache, separate for each instance. */
	public static class InMemory extends RegionFactoryTemplate {

		@Override
		protected void prepareForUse(SessionFactoryOptions settings, Map<String, Object> values) {
		}

		@Override
		protected void releaseFromUse() {
		}

		@Override
		protected DomainDataStorageAccess createDomainDataStorageAccess(DomainDataRegionConfig region,
				DomainDataRegionBuildingContext context) {
			return new Entries();
		}

		@Override
		protected StorageAccess createQueryResultsRegionStorageAccess(String region,
				SessionFactoryImplementor factory) {
			return new Entries();
		}

		@Override
		protected StorageAccess createTimestampsRegionStorageAccess(String region, SessionFactoryImplementor factory) {
			return new Entries();
		}

	}

	private static final class Entries implements DomainDataStorageAccess {

		private final Map<Object, Object> entries = new ConcurrentHashMap<>();

		@Override
		public Object getFromCache(Object key, SharedSessionContractImplementor session) {
			return this.entries.get(key);
		}

		@Override
		public void putIntoCache(Object key, Object value, SharedSessionContractImplementor session) {
			this.entries.put(key, value);
		}

		@Override
		public boolean contains(Object key) {
			return this.entries.containsKey(key);
		}

		@Override
		public void evictData() {
			this.entries.clear();
		}

		@Override
		public void evictData(Object key) {
			this.entries.remove(key);
		}

		@Override
		public void release() {
			this.entries.clear();
		}

	}

}
