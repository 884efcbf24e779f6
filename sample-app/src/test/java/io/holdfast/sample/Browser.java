package io.holdfast.sample;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.support.ui.WebDriverWait;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/**
 * A headless Chromium. It reaches this machine only, so a page that needs anything else
 * fails.
 */
final class Browser implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

	private final ChromeDriver driver;

	private final Map<String, String> media = new HashMap<>();

	private Browser(ChromeDriver driver) {
		this.driver = driver;
	}

	static Browser start() {
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(program("chromedriver"))
			.usingAnyFreePort()
			.withEnvironment(Map.of("TMPDIR", temporaryFiles().toString()))
			.build();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(program("chromium"));
		options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
				"--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
				"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
		return new Browser(new ChromeDriver(service, options));
	}

	/** Chromium does not delete all of its files when it ends. */
	private static Path temporaryFiles() {
		try {
			return Files.createDirectories(Path.of("target", "browser").toAbsolutePath());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static File program(String name) {
		return Stream.of(System.getenv("PATH").split(File.pathSeparator))
			.map((directory) -> new File(directory, name))
			.filter(File::canExecute)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(
					"There is no '%s' on the PATH. Run build/install-servers.sh".formatted(name)));
	}

	void open(String url) {
		this.driver.get(url);
	}

	/** Opens a page beside the present one. */
	void openTab(String url) {
		this.driver.switchTo().newWindow(WindowType.TAB);
		open(url);
	}

	/** Closes the page and returns to the one before. */
	void closeTab() {
		this.driver.close();
		this.driver.switchTo().window(this.driver.getWindowHandles().iterator().next());
	}

	void click(String selector) {
		element(selector).click();
	}

	void type(CharSequence... keys) {
		new Actions(this.driver).sendKeys(keys).perform();
	}

	void enter(String selector, Object text) {
		element(selector).sendKeys(Keys.chord(Keys.CONTROL, "a"), text.toString());
	}

	String text(String selector) {
		return element(selector).getText();
	}

	int number(String selector) {
		return Integer.parseInt(text(selector));
	}

	int count(String selector) {
		return this.driver.findElements(By.cssSelector(selector)).size();
	}

	private WebElement element(String selector) {
		return this.driver.findElement(By.cssSelector(selector));
	}

	/** Waits until an element matches the selector. */
	void await(String selector) {
		new WebDriverWait(this.driver, LONGEST_WAIT, Duration.ofMillis(50))
			.withMessage(() -> "nothing matches '%s'".formatted(selector))
			.until((browser) -> count(selector) > 0);
	}

	Object run(String script) {
		return this.driver.executeScript(script);
	}

	/** Emulates a system with that theme, {@code light} or {@code dark}. */
	void useTheme(String theme) {
		emulate("prefers-color-scheme", theme);
	}

	/** Emulates a system whose user has asked for less motion, or has not. */
	void reduceMotion(boolean reduced) {
		emulate("prefers-reduced-motion", reduced ? "reduce" : "no-preference");
	}

	private void emulate(String feature, String value) {
		this.media.put(feature, value);
		List<Map<String, String>> features = this.media.entrySet()
			.stream()
			.map((each) -> Map.of("name", each.getKey(), "value", each.getValue()))
			.toList();
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", features));
	}

	void resize(int width, int height) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
	}

	/**
	 * Runs axe-core.
	 * @return the violations, each with the elements that it concerns
	 */
	@SuppressWarnings("unchecked")
	List<String> accessibilityViolations() {
		if (this.driver.executeScript("return Boolean(window.axe);").equals(false)) {
			this.driver.executeScript(axe());
		}
		return (List<String>) this.driver.executeAsyncScript(
				"""
						const done = arguments[arguments.length - 1];
						axe.run().then((result) => done(result.violations.map((violation) =>
							violation.id + ": " + violation.nodes.map((node) => node.target + " " + node.failureSummary).join())));
						""");
	}

	private static String axe() {
		try {
			Resource[] scripts = new PathMatchingResourcePatternResolver()
				.getResources("classpath:/META-INF/resources/webjars/axe-core/*/axe.min.js");
			return scripts[0].getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Writes a picture of the page from its top down to the end of an element. */
	void takePicture(String lastElement, Path file) {
		Number height = (Number) this.driver.executeScript(
				"return document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY + 20;",
				lastElement);
		Number width = (Number) this.driver.executeScript("return innerWidth;");
		Map<String, Object> clip = Map.of("x", 0, "y", 0, "width", width, "height", height, "scale", 0.8);
		Map<String, Object> picture = this.driver.executeCdpCommand("Page.captureScreenshot",
				Map.of("format", "png", "captureBeyondViewport", true, "clip", clip));
		try {
			Files.write(file, Base64.getDecoder().decode((String) picture.get("data")));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
