package io.holdfast.sample;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the page in a real browser, as a person would use it. With {@code -Ddocs.write},
 * it also takes the pictures of the documentation.
 */
class SalePageTests {

	private static final boolean WRITE = System.getProperty("docs.write") != null;

	private static final Path PICTURES = Path.of("..", "docs", "images");

	private static final int OTHER_WATCHERS = 31;

	private static final int BUYERS = WRITE ? 20 : 5;

	private static final String[] SETTINGS = { "--spring.profiles.active=jdbc",
			"--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000" };

	@AutoClose
	private static final RunningSample sample = RunningSample.start(SETTINGS);

	@AutoClose
	private static final Browser browser = Browser.start();

	@BeforeEach
	void openPage() {
		browser.reduceMotion(WRITE); // a picture of a moving chip is blurred
		browser.useTheme("light");
		browser.resize(1200, 900);
		browser.open(sample.url());
		browser.await("body[data-number] #store option");
	}

	/** Runs something that starts a sale, and waits until that sale is over. */
	private static void awaitSale(Runnable start) {
		Object before = browser.run("return document.body.dataset.number;");
		start.run();
		browser.await("body:not([data-number='%s']) #verdict:is(.good, .bad)".formatted(before));
	}

	private static void choose(String mode, int buyers) {
		browser.click("[name=mode][value=%s]".formatted(mode));
		browser.enter("#buyers", buyers);
	}

	@ParameterizedTest
	@CsvSource({ "none, jdbc", "inside, local", "holdfast, jdbc", "paused, local" })
	void pageShowsWhatTheDatabaseSays(String mode, String store) {
		choose(mode, BUYERS);
		browser.click("#store option[value=%s]".formatted(store));
		awaitSale(() -> {
			browser.click("#go");
			takePictures(mode, "paused",
					"body:has(#exposed [data-step=lost]):has(#done .chip:nth-child(4)) #holding .chip");
		});
		int refused = count("select count(*) from sale_event where step = 'REFUSED'");
		int sold = count("select count(*) from stock_order where product = 1000");
		int lost = sample.stock(1000) - (100 - sold);
		assertThat(refused).isEqualTo(mode.equals("paused") ? 1 : 0);
		assertThat(sold).isEqualTo(BUYERS - refused);
		assertThat(browser.number("#sold")).isEqualTo(sold).isEqualTo(browser.count("#done .chip"));
		assertThat(browser.number("#should-be")).isEqualTo(100 - sold);
		assertThat(browser.number("#stock")).isEqualTo(sample.stock(1000));
		assertThat(browser.number("#lost")).isEqualTo(lost);
		assertThat(browser.number("#refused")).isEqualTo(refused).isEqualTo(browser.count("#refusal .chip"));
		assertThat(browser.count("#tokens li")).isEqualTo(mode.equals("none") ? 0 : BUYERS);
		if (mode.equals("none") || mode.equals("inside")) {
			assertThat(lost).isPositive();
			assertThat(browser.text("#verdict.bad")).startsWith(lost + " of " + sold + " sales were lost.");
		}
		else {
			assertThat(lost).isZero();
			assertThat(browser.text("#verdict.good")).startsWith("No sale was lost.");
			assertThat(browser.text("#newest")).contains("each order has a greater token than the order before");
		}
		assertThat(browser.accessibilityViolations()).isEmpty();
		browser.useTheme("dark");
		assertThat(browser.accessibilityViolations()).isEmpty();
		takePictures(mode, "none", "#verdict.bad");
	}

	private static void takePictures(String mode, String wanted, String when) {
		if (WRITE && mode.equals(wanted)) {
			browser.await(when);
			for (String theme : new String[] { "light", "dark" }) {
				browser.useTheme(theme);
				browser.takePicture(".stage", PICTURES.resolve("sample-%s-%s.png".formatted(mode, theme)));
			}
		}
	}

	/** A browser does not repeat a request for events that was answered with an error. */
	@Test
	void pageAsksAgainForEventsWhenTooManyBrowsersWatch() throws Exception {
		HttpRequest events = HttpRequest.newBuilder(URI.create(sample.url() + "/sales/events")).build();
		HttpClient others = HttpClient.newHttpClient();
		List<InputStream> streams = new ArrayList<>();
		// this page watches, too, and those of earlier tests until the server has noticed
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
			List<CompletableFuture<HttpResponse<InputStream>>> responses = Stream
				.generate(() -> others.sendAsync(events, BodyHandlers.ofInputStream()))
				.limit(OTHER_WATCHERS - streams.size())
				.toList();
			responses.stream()
				.map(CompletableFuture::join)
				.filter((response) -> response.statusCode() == 200)
				.forEach((response) -> streams.add(response.body()));
			return streams.size() == OTHER_WATCHERS;
		});
		browser.openTab(sample.url());
		browser.await("#notice:not(:empty)");
		assertThat(browser.text("#notice")).matches(
				"The server sends no events: too many pages watch, or it is stopping. The page asks again in \\d+ s.");
		assertThat(browser.count("body[data-number]")).isZero();
		for (InputStream stream : streams) {
			stream.close();
		}
		browser.await("body[data-number] #notice:empty");
		browser.closeTab();
	}

	@Test
	void keyboardIsEnough() {
		browser.reduceMotion(true);
		browser.run("window.moved = 0; Element.prototype.animate = () => { window.moved++; };");
		browser.type(Keys.TAB, Keys.ARROW_DOWN, Keys.ARROW_DOWN);
		assertThat(focused()).isEqualTo("mode holdfast, outlined");
		browser.type(Keys.TAB);
		assertThat(focused()).isEqualTo("store jdbc, outlined");
		browser.type(Keys.TAB, Keys.chord(Keys.CONTROL, "a"), "3");
		assertThat(focused()).isEqualTo("buyers 3, outlined");
		browser.type(Keys.TAB);
		assertThat(focused()).isEqualTo("go , outlined");
		awaitSale(() -> browser.type(Keys.SPACE));
		assertThat(browser.text("#about")).contains("Holdfast, store jdbc, 3 buyers");
		assertThat(browser.number("#sold")).isEqualTo(3);
		assertThat(browser.run("return window.moved;")).as("with reduced motion").isEqualTo(0L);
	}

	private static Object focused() {
		return browser.run("""
				const focus = document.activeElement;
				const outlined = getComputedStyle(focus.closest(".mode") ?? focus).outlineStyle === "solid";
				return `${focus.name || focus.id} ${focus.value}, ${outlined ? "outlined" : "not visible"}`;
				""");
	}

	@Slow
	@Test
	void saleInProgressIsNotInterrupted() {
		choose("holdfast", 4);
		awaitSale(() -> {
			// the buyers wait until both clicks are answered
			try (LockHandle lock = sample.bean(LockOperations.class).acquire(LockRequest.of("stock", 1000))) {
				browser.click("#go");
				browser.await("#verdict.running");
				browser.click("#go");
				browser.await("#notice:not(:empty)");
				assertThat(browser.text("#notice")).startsWith("A sale is in progress.");
				lock.assertHeld();
			}
		});
		assertThat(browser.number("#sold")).isEqualTo(4);
	}

	@Test
	void pageFitsOnAPhone() {
		choose("none", 20);
		awaitSale(() -> browser.click("#go"));
		browser.resize(360, 740);
		assertThat(browser.run("return document.scrollingElement.scrollWidth;")).isEqualTo(360L);
		assertThat(browser.accessibilityViolations()).isEmpty();
	}

	@Test
	void instancesShowEachOthersBuyersAndSellTogether() {
		try (RunningSample other = RunningSample.start(SETTINGS)) {
			browser.open(other.url());
			browser.await("body[data-number] #store option");
			awaitSale(() -> {
				startElsewhere();
				browser.await("#holding .chip.other");
			});
			assertThat(browser.count("#done .chip.other")).isEqualTo(4);
			assertThat(browser.count("#done .chip")).isEqualTo(8);
			assertThat(browser.number("#sold")).isEqualTo(8);
			assertThat(browser.number("#stock")).isEqualTo(sample.stock(1000)).isEqualTo(92);
			assertThat(browser.text("#legend")).contains(sample.port(), other.port());
		}
	}

	private static void startElsewhere() {
		sample.http().post().uri("/sales?mode=holdfast&store=jdbc&buyers=4").exchange().expectStatus().isAccepted();
	}

	private static int count(String query) {
		return sample.bean(JdbcClient.class).sql(query).query(Integer.class).single();
	}

}
