package io.holdfast.lock.architecture;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the form of auto-configurations and of their metadata. The
 * auto-configurations that they are ordered by must exist.
 */
class AutoConfigurationRulesTests {

	private static final String PREFIX = "distributed-lock.";

	private static final Path OUTPUT = Path.of("target", "classes");

	@Test
	void autoConfigurationsArePublicAndFinal() {
		assertThat(autoConfigurations()).allSatisfy((type) -> assertThat(type.getModifiers()).as(type.getName())
			.contains(JavaModifier.PUBLIC, JavaModifier.FINAL));
	}

	@Test
	void autoConfigurationsHaveNoPublicMember() {
		assertThat(autoConfigurations().stream().flatMap((type) -> type.getMembers().stream()))
			.filteredOn(
					(member) -> member.getModifiers().contains(JavaModifier.PUBLIC) && !isDefaultConstructor(member))
			.isEmpty();
	}

	@Test
	void autoConfigurationsAreListedForSpringBoot() {
		List<String> listed = ImportCandidates.load(AutoConfiguration.class, null)
			.getCandidates()
			.stream()
			.filter((name) -> name.startsWith("io.holdfast."))
			.toList();
		assertThat(listed)
			.containsExactlyInAnyOrderElementsOf(autoConfigurations().stream().map(JavaClass::getName).toList());
	}

	@Test
	void everyAutoConfigurationThatOursAreOrderedByExists() throws Exception {
		try (URLClassLoader known = new URLClassLoader(foreignStarters(), getClass().getClassLoader())) {
			for (JavaClass type : autoConfigurations()) {
				AutoConfiguration annotation = Class.forName(type.getName()).getAnnotation(AutoConfiguration.class);
				assertThat(Stream.of(annotation.afterName(), annotation.beforeName()).flatMap(Stream::of))
					.as("after and before of " + type.getName())
					.allMatch((name) -> known
						.getResource(ClassUtils.convertClassNameToResourcePath(name) + ".class") != null);
				assertThat(Stream.of(annotation.after(), annotation.before()).flatMap(Stream::of)).doesNotContainNull();
			}
		}
	}

	/**
	 * Returns third-party starters, which would configure our tests if they were on the
	 * class path.
	 */
	private static URL[] foreignStarters() throws IOException {
		try (Stream<Path> jars = Files.list(Path.of("target", "foreign-starters"))) {
			List<URL> urls = new ArrayList<>();
			for (Path jar : jars.toList()) {
				urls.add(jar.toUri().toURL());
			}
			return urls.toArray(URL[]::new);
		}
	}

	@Test
	void beanMethodsAreNotConditionalOnAClass() {
		methods().that()
			.areAnnotatedWith(Bean.class)
			.should()
			.notBeAnnotatedWith(ConditionalOnClass.class)
			.because("the type in its signature would be loaded before the condition is asked")
			.check(MainClasses.ALL);
	}

	@Test
	void postProcessorsAreMadeByStaticMethods() {
		methods().that()
			.areAnnotatedWith(Bean.class)
			.and()
			.haveRawReturnType(describe("a post-processor", AutoConfigurationRulesTests::isPostProcessor))
			.should()
			.beStatic()
			.because("the configuration would be made before anything could process it")
			.check(MainClasses.ALL);
	}

	private static boolean isPostProcessor(JavaClass type) {
		return BeanPostProcessor.class.isAssignableFrom(type.reflect())
				|| BeanFactoryPostProcessor.class.isAssignableFrom(type.reflect());
	}

	@Test
	void everyTypeInSpringFactoriesExists() throws IOException {
		Properties factories = PropertiesLoaderUtils
			.loadProperties(new FileSystemResource(OUTPUT.resolve("META-INF/spring.factories")));
		assertThat(factories).isNotEmpty()
			.allSatisfy((key, values) -> assertThat(StringUtils.commaDelimitedListToSet(key + "," + values))
				.allMatch((name) -> ClassUtils.isPresent(name.strip(), getClass().getClassLoader())));
	}

	@Test
	void everyPropertyIsDescribedInPlainText() {
		List<Map<String, Object>> properties = metadata("properties");
		assertThat(properties).isNotEmpty()
			.allSatisfy(
					(property) -> assertThat(property.get("description")).as("description of %s", property.get("name"))
						.asString()
						.isNotBlank()
						.doesNotContain("{@", "<", "null"));
	}

	@Test
	void everyClassOfPropertiesIsInTheMetadata() {
		List<String> types = MainClasses.ALL.stream()
			.filter((type) -> type.isAnnotatedWith(ConfigurationProperties.class))
			.map(JavaClass::getName)
			.toList();
		assertThat(types).isNotEmpty();
		assertThat(metadata("groups")).extracting((group) -> (String) group.get("type")).containsAll(types);
	}

	@Test
	void everySettingIsKnownToTheCheckOfSettings() throws ReflectiveOperationException {
		Class<?> check = Class.forName("io.holdfast.lock.autoconfigure.SettingsCheck");
		assertThat(names(check, "DURATIONS")).containsExactlyInAnyOrderElementsOf(
				ownProperties().filter((property) -> Duration.class.getName().equals(property.get("type")))
					.map(AutoConfigurationRulesTests::nameOf)
					.toList());
		assertThat(names(check, "OTHERS")).containsExactlyInAnyOrderElementsOf(
				ownProperties().filter((property) -> !Duration.class.getName().equals(property.get("type")))
					.map(AutoConfigurationRulesTests::nameOf)
					.toList());
	}

	private static String nameOf(Map<String, Object> property) {
		return ((String) property.get("name")).substring(PREFIX.length());
	}

	/** Returns our properties without those of Actuator for our beans. */
	private static Stream<Map<String, Object>> ownProperties() {
		return metadata("properties").stream().filter((property) -> ((String) property.get("name")).startsWith(PREFIX));
	}

	@SuppressWarnings("unchecked")
	private static List<String> names(Class<?> type, String field) throws ReflectiveOperationException {
		Field names = type.getDeclaredField(field);
		names.setAccessible(true);
		return (List<String>) names.get(null);
	}

	private static List<Map<String, Object>> metadata(String kind) {
		return JsonPath.read(Sources.text(OUTPUT.resolve("META-INF/spring-configuration-metadata.json")), "$." + kind);
	}

	private static List<JavaClass> autoConfigurations() {
		List<JavaClass> types = MainClasses.ALL.stream()
			.filter((type) -> type.isAnnotatedWith(AutoConfiguration.class))
			.toList();
		assertThat(types).isNotEmpty();
		return types;
	}

	private static boolean isDefaultConstructor(JavaMember member) {
		return member instanceof JavaConstructor constructor && constructor.getParameters().isEmpty();
	}

}
