package io.holdfast.lock.autoconfigure;

import java.io.InputStream;
import java.util.List;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the values that editors suggest for properties.
 */
class MetadataHintTests {

	@Test
	void everyStoreIsOffered() throws Exception {
		List<String> stores = Stream.concat(Stream.of(LockStore.values()).map(LockStore::id), Stream.of("local"))
			.toList();
		assertThat(
				MetadataHintTests.<List<String>>read("$.hints[?(@.name=='distributed-lock.backend')].values[*].value"))
			.containsExactlyInAnyOrderElementsOf(stores);
	}

	@Test
	void hintsAreThoseOfSettings() throws Exception {
		assertThat(MetadataHintTests.<List<String>>read("$.hints[*].name")).isNotEmpty()
			.allSatisfy(
					(name) -> assertThat(SettingsCheck.OTHERS).contains(name.substring("distributed-lock.".length())));
	}

	private static <T> T read(String path) throws Exception {
		try (InputStream json = new ClassPathResource("META-INF/additional-spring-configuration-metadata.json")
			.getInputStream()) {
			return JsonPath.read(json, path);
		}
	}

}
