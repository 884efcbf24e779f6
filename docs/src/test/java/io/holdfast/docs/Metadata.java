package io.holdfast.docs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The configuration metadata that the build generated for editors.
 */
final class Metadata {

	static final String PREFIX = "distributed-lock";

	private Metadata() {
	}

	static List<Property> properties() {
		return read().stream()
			.map((property) -> new Property((String) property.get("name"), (String) property.get("type"),
					property.get("defaultValue"), (String) property.getOrDefault("description", "")))
			.filter((property) -> property.name().startsWith(PREFIX + "."))
			.sorted(Comparator.comparing(Property::group).thenComparing(Property::name))
			.toList();
	}

	private static List<Map<String, Object>> read() {
		List<Map<String, Object>> properties = new ArrayList<>();
		try {
			for (URL file : Collections
				.list(Metadata.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
				try (InputStream json = file.openStream()) {
					properties.addAll(JsonPath.read(json, "$.properties"));
				}
			}
			return properties;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A setting.
	 *
	 * @param name the name
	 * @param type the Java type
	 * @param defaultValue the default, or {@code null} if there is none
	 * @param description the description
	 */
	record Property(String name, String type, @Nullable Object defaultValue, String description) {

		String group() {
			return this.name.substring(0, this.name.lastIndexOf('.'));
		}

		/** Returns the type in the terms of YAML. */
		String kind() {
			if (this.type.equals("java.time.Duration")) {
				return "duration";
			}
			if (this.type.startsWith("java.util.")) {
				return "list";
			}
			Class<?> type = ClassUtils.resolveClassName(this.type, getClass().getClassLoader());
			if (type.isEnum()) {
				return Stream.of(type.getEnumConstants())
					.map((constant) -> "`" + constant.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
					.collect(Collectors.joining(", "));
			}
			return ClassUtils.getShortName(type)
				.toLowerCase(Locale.ROOT)
				.replace("string", "text")
				.replace("integer", "number");
		}

	}

}
