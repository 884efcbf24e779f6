package io.holdfast.lock.interceptor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.PostLoad;
import jakarta.persistence.PrePersist;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that Spring Data repositories hold their locks around the transactions that they
 * begin, and pass the fence inside them.
 */
class RepositoryTests {

	/** The locks held when entities were loaded and written. */
	private static final List<String> HELD = new ArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				HibernateJpaAutoConfiguration.class, TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withUserConfiguration(Repositories.class)
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");

	@BeforeEach
	void forget() {
		HELD.clear();
	}

	@Test
	void methodOfARepositoryHoldsTheLockOfItsKey() {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			Pieces pieces = context.getBean(Pieces.class);
			pieces.saveAndFlush(new Piece(1));
			assertThat(HELD).containsExactly("[]");
			assertThat(pieces.findById(1L)).isPresent();
			assertThat(((CrudRepository<Piece, Long>) pieces).findById(1L)).isPresent();
			assertThat(HELD).containsExactly("[]", "[piece:1]", "[piece:1]");
			assertThat(pieces.sell(1)).isEqualTo(1);
			assertThat(fences(context)).containsExactly("piece:1");
			assertThat(LockContext.handles()).isEmpty();
		});
	}

	@Test
	void overtakenHolderIsRefusedInTheRepositoryTransaction() {
		this.runner.run((context) -> {
			Pieces pieces = context.getBean(Pieces.class);
			pieces.saveAndFlush(new Piece(1));
			pieces.sell(1);
			context.getBean(JdbcTemplate.class)
				.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> pieces.sell(1));
			assertThat(context.getBean(JdbcTemplate.class).queryForObject("SELECT amount FROM piece", Integer.class))
				.isEqualTo(99);
		});
	}

	@Test
	void annotationOnTheInterfaceAppliesToAllItsMethods() {
		this.runner.run((context) -> {
			LockedPieces pieces = context.getBean(LockedPieces.class);
			pieces.saveAndFlush(new Piece(2));
			assertThat(pieces.findById(2L)).isPresent();
			assertThat(pieces.findByAmount(100)).hasSize(1);
			assertThat(pieces.count()).isEqualTo(1);
			assertThat(HELD).hasSizeGreaterThanOrEqualTo(2).containsOnly("[pieces]");
		});
	}

	@Test
	void lockIsOutsideOfTheTransactionAndTheFenceInside() {
		this.runner.run((context) -> {
			for (Object repository : List.of(context.getBean(Pieces.class), context.getBean(LockedPieces.class))) {
				List<String> chain = Arrays.stream(((Advised) repository).getAdvisors())
					.map((advisor) -> advisor.getAdvice().getClass())
					.filter(List.of(DistributedLockInterceptor.class, TransactionInterceptor.class,
							FenceInterceptor.class)::contains)
					.map(Class::getSimpleName)
					.toList();
				assertThat(chain).containsExactly("DistributedLockInterceptor", "TransactionInterceptor",
						"FenceInterceptor");
			}
		});
	}

	@Test
	void defaultMethodOfARepositoryIsAFallback() {
		this.runner.run((context) -> LocalLocks.whileHeld(context, "piece:1",
				() -> assertThat(context.getBean(Pieces.class).take(1)).isEqualTo("piece 1 of 0 is taken")));
	}

	private static List<String> fences(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT lock_name FROM holdfast_fence", String.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = RepositoryTests.class)
	@EnableJpaRepositories(considerNestedRepositories = true, basePackageClasses = RepositoryTests.class,
			includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = { Pieces.class, LockedPieces.class }))
	static class Repositories {

	}

	interface Pieces extends JpaRepository<Piece, Long> {

		@Override
		@DistributedLock(name = "piece", key = "#number")
		Optional<Piece> findById(Long number);

		@Modifying
		@Transactional
		@DistributedLock(name = "piece", key = "#id", fenced = true)
		@Query("UPDATE piece p SET p.amount = p.amount - 1 WHERE p.id = :id")
		int sell(long id);

		@DistributedLock(name = "piece", key = "#id", waitTime = "0s", fallback = "taken")
		default String take(long id) {
			return "piece " + id;
		}

		default String taken(long id) {
			return "piece %s of %s is taken".formatted(id, count());
		}

	}

	@DistributedLock("pieces")
	interface LockedPieces extends JpaRepository<Piece, Long> {

		List<Piece> findByAmount(int amount);

	}

	@Entity(name = "piece")
	static class Piece {

		@Id
		private Long id;

		private int amount = 100;

		protected Piece() {
		}

		Piece(long id) {
			this.id = id;
		}

		@PostLoad
		@PrePersist
		void note() {
			HELD.add(LocalLocks.allHeld());
		}

	}

}
