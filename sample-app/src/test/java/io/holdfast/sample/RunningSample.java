package io.holdfast.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.awaitility.Awaitility;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sample application as users start it, on a free port and with its own database.
 */
final class RunningSample implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private RunningSample(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static RunningSample start(String... arguments) {
		List<String> all = new ArrayList<>(List.of(arguments));
		all.add("--server.port=0");
		if (all.stream().noneMatch((argument) -> argument.startsWith("--spring.datasource.url="))) {
			all.add("--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()
					+ ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
		}
		return new RunningSample(SpringApplication.run(SampleApplication.class, all.toArray(String[]::new)));
	}

	RestTestClient http() {
		return RestTestClient.bindToServer().baseUrl(url()).build();
	}

	String url() {
		return "http://127.0.0.1:" + port();
	}

	String port() {
		return this.context.getEnvironment().getRequiredProperty("local.server.port");
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	void setStock(long product, int quantity) {
		http().put().uri("/products/{id}/stock?quantity={n}", product, quantity).exchange().expectStatus().isOk();
	}

	RestTestClient.ResponseSpec order(long product, String query) {
		return http().post().uri("/products/{id}/orders?" + query, product).exchange();
	}

	/** Starts a sale of the page and waits until it is over. */
	void sell(String mode, String store, int buyers) {
		http().post()
			.uri("/sales?mode={mode}&store={store}&buyers={buyers}", mode, store, buyers)
			.exchange()
			.expectStatus()
			.isAccepted();
		JdbcClient jdbc = bean(JdbcClient.class);
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(jdbc.sql("select active from sale").query(Integer.class).single()).isZero());
	}

	int stock(long product) {
		return bean(Warehouse.class).product(product).stock();
	}

	@Override
	public void close() {
		this.context.close();
	}

}
