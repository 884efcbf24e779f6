package io.holdfast.lock.transaction;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.PersistenceContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a web application with Boot's defaults, whose controllers read an entity
 * before they call a method that changes it under a lock.
 */
class OpenInViewTests {

	private static final long PRODUCT = 1;

	private static final int STOCK = 100;

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	private static final Map<Database, ConfigurableApplicationContext> shops = new EnumMap<>(Database.class);

	@AfterAll
	static void closeShops() {
		shops.values().forEach(ConfigurableApplicationContext::close);
	}

	@ParameterizedTest
	@CsvSource({ "H2, 2", "H2, 8", "POSTGRES, 2", "POSTGRES, 8" })
	void entityReadBeforeTheLockIsSoldUnderItAndRendered(Database database, int requests) {
		ConfigurableApplicationContext shop = shop(database);
		shop.getBean(Controller.class).allRequestsHaveRead = new CyclicBarrier(requests);
		List<HttpResponse<String>> answers = post(shop, "/sales/" + PRODUCT, requests);
		assertThat(answers).allSatisfy((answer) -> {
			assertThat(answer.statusCode()).as(answer.body()).isEqualTo(HttpStatus.OK.value());
			assertThat(answer.body()).as("what was read before").contains("\"text\":\"good\"");
		});
		assertThat(stock(shop)).isEqualTo(STOCK - requests);
	}

	/**
	 * Each request occupies a connection for its reads until it waits for the lock.
	 */
	@Test
	void lockedTransactionNeedsNoConnectionBesideThatOfTheRequest() {
		try (ConfigurableApplicationContext context = start(Database.H2, "spring.datasource.hikari.maximum-pool-size=2",
				"spring.datasource.hikari.connection-timeout=5000")) {
			context.getBean(Controller.class).allRequestsHaveRead = new CyclicBarrier(2);
			assertThat(post(context, "/sales/" + PRODUCT, 8)).extracting(HttpResponse::statusCode)
				.containsOnly(HttpStatus.OK.value());
			assertThat(stock(context)).isEqualTo(STOCK - 8);
		}
	}

	@ParameterizedTest
	@CsvSource({ "H2", "POSTGRES" })
	void changeOfAnEntityReadBeforeTheLockIsRefused(Database database) {
		ConfigurableApplicationContext shop = shop(database);
		HttpResponse<String> answer = post(shop, "/stale-sales/" + PRODUCT, 1).get(0);
		assertThat(answer.body()).contains("Lock 'stock:1'")
			.contains(Product.class.getName() + " (stock)")
			.contains("the transaction is rolled back")
			.contains("Load it by its id inside the locked method");
		assertThat(answer.statusCode()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(stock(shop)).isEqualTo(STOCK);
		assertThat(orders(shop)).as("written before the commit").isZero();
	}

	@Test
	void entityReadBeforeTheLockMayBeReadUnderIt() {
		ConfigurableApplicationContext shop = shop(Database.H2);
		assertThat(post(shop, "/orders/" + PRODUCT, 1).get(0).statusCode()).isEqualTo(HttpStatus.OK.value());
		assertThat(stock(shop)).isEqualTo(STOCK - 1);
		assertThat(orders(shop)).isOne();
	}

	/** Returns a shop with one product in stock and no orders. */
	private static ConfigurableApplicationContext shop(Database database) {
		ConfigurableApplicationContext shop = shops.computeIfAbsent(database, OpenInViewTests::start);
		JdbcClient client = shop.getBean(JdbcClient.class);
		client.sql("DELETE FROM purchase").update();
		client.sql("UPDATE product SET stock = ?").param(STOCK).update();
		shop.getBean(Controller.class).allRequestsHaveRead = new CyclicBarrier(1);
		return shop;
	}

	private static ConfigurableApplicationContext start(Database database, String... properties) {
		List<String> all = new ArrayList<>(List.of("server.port=0", "spring.cloud.zookeeper.enabled=false",
				"distributed-lock.backend=local", "distributed-lock.wait-time=30s",
				"spring.jpa.hibernate.ddl-auto=create-drop", database.setting(postgres)));
		if (database == Database.POSTGRES) {
			all.add("distributed-lock.fencing.initialize-schema=always");
		}
		all.addAll(List.of(properties));
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Shop.class)
			.web(WebApplicationType.SERVLET)
			.properties(all.toArray(String[]::new))
			.run();
		context.getBean(TransactionTemplate.class)
			.executeWithoutResult(
					(status) -> context.getBean(EntityManager.class).persist(new Product(PRODUCT, STOCK)));
		return context;
	}

	private static List<HttpResponse<String>> post(ConfigurableApplicationContext context, String path, int times) {
		HttpClient client = HttpClient.newHttpClient();
		HttpRequest request = HttpRequest
			.newBuilder(
					URI.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port") + path))
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
		for (int i = 0; i < times; i++) {
			answers.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
		}
		return answers.stream().map((answer) -> answer.orTimeout(60, TimeUnit.SECONDS).join()).toList();
	}

	private static int stock(ConfigurableApplicationContext context) {
		return context.getBean(JdbcClient.class)
			.sql("SELECT stock FROM product WHERE id = ?")
			.param(PRODUCT)
			.query(Integer.class)
			.single();
	}

	private static int orders(ConfigurableApplicationContext context) {
		return context.getBean(JdbcClient.class).sql("SELECT COUNT(*) FROM purchase").query(Integer.class).single();
	}

	/**
	 * The application under test.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = {
			"org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration" })
	static class Shop {

		@Bean
		Sales sales() {
			return new Sales();
		}

		@Bean
		Controller controller(Sales sales) {
			return new Controller(sales);
		}

	}

	/**
	 * Reads a product before selling it, and returns what it read.
	 */
	@RestController
	static class Controller {

		private final Sales sales;

		@PersistenceContext
		private EntityManager entities;

		private volatile CyclicBarrier allRequestsHaveRead = new CyclicBarrier(1);

		Controller(Sales sales) {
			this.sales = sales;
		}

		@PostMapping("/sales/{id}")
		Product sell(@PathVariable long id) throws Exception {
			Product seen = this.entities.find(Product.class, id);
			this.allRequestsHaveRead.await(60, TimeUnit.SECONDS);
			this.sales.sell(seen.getId());
			return seen;
		}

		@PostMapping("/stale-sales/{id}")
		ResponseEntity<String> sellEarlierEntity(@PathVariable long id) {
			try {
				this.sales.sellEarlierEntity(this.entities.find(Product.class, id));
				return ResponseEntity.ok("sold");
			}
			catch (LockConfigurationException ex) {
				return ResponseEntity.status(HttpStatus.CONFLICT).body(ex.getMessage());
			}
		}

		@PostMapping("/orders/{id}")
		void order(@PathVariable long id) {
			this.sales.order(this.entities.find(Product.class, id));
		}

	}

	/**
	 * Sells under a lock.
	 */
	static class Sales {

		@PersistenceContext
		private EntityManager entities;

		// tag::sell[]
		@DistributedLock(name = "stock", key = "#id", fenced = true)
		@Transactional
		public void sell(long id) {
			Product product = this.entities.find(Product.class, id);
			product.stock--;
		}
		// end::sell[]

		@DistributedLock(name = "stock", key = "#seen.id", fenced = true)
		@Transactional
		public void sellEarlierEntity(Product seen) {
			this.entities.persist(new Purchase(seen.getId()));
			this.entities.flush();
			seen.stock--;
		}

		@DistributedLock(name = "stock", key = "#seen.id", fenced = true)
		@Transactional
		public void order(Product seen) {
			this.entities.persist(new Purchase(seen.getId()));
			assertThat(seen.getReviews()).as("loaded under the lock").hasSize(1);
			this.entities.find(Product.class, seen.getId()).stock--;
		}

	}

	/**
	 * A product with a lazy association.
	 */
	@Entity(name = "product")
	static class Product {

		@Id
		private long id;

		private int stock;

		@OneToMany(mappedBy = "product", cascade = CascadeType.ALL)
		private List<Review> reviews = new ArrayList<>();

		protected Product() {
		}

		Product(long id, int stock) {
			this.id = id;
			this.stock = stock;
			this.reviews.add(new Review(this));
		}

		public long getId() {
			return this.id;
		}

		public List<Review> getReviews() {
			return this.reviews;
		}

	}

	/**
	 * A review of a product.
	 */
	@Entity(name = "review")
	static class Review {

		@Id
		private long id;

		private String text;

		@ManyToOne
		private Product product;

		protected Review() {
		}

		Review(Product product) {
			this.id = product.getId();
			this.product = product;
			this.text = "good";
		}

		public String getText() {
			return this.text;
		}

	}

	/**
	 * A purchase of a product.
	 */
	@Entity(name = "purchase")
	static class Purchase {

		@Id
		private long id;

		protected Purchase() {
		}

		Purchase(long id) {
			this.id = id;
		}

	}

}
