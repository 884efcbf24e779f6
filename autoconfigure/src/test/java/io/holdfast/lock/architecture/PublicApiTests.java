package io.holdfast.lock.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the public types of this module, and their public and protected members, with
 * the list in the repository, so that each addition and removal is deliberate. To accept
 * a change, run the test with {@code -Dpublic-api.write=true} and commit the list.
 */
class PublicApiTests {

	private static final Path LIST = Path.of("src", "test", "resources", "public-api.txt");

	@Test
	void publicTypesAndMembersAreThoseOfTheList() throws IOException {
		List<String> actual = publicApi();
		if (Boolean.getBoolean("public-api.write")) {
			Files.write(LIST, actual);
		}
		assertThat(actual).as("public API, compared with %s", LIST)
			.hasSizeGreaterThan(200)
			.containsExactlyElementsOf(Files.readAllLines(LIST));
	}

	private static List<String> publicApi() {
		return MainClasses.ALL.stream()
			.filter(PublicApiTests::isVisible)
			.flatMap((type) -> Stream.concat(Stream.of(type.getName()), members(type)))
			.sorted()
			.toList();
	}

	private static Stream<String> members(JavaClass type) {
		return type.getMembers()
			.stream()
			.filter((member) -> isVisible(member) && !isGenerated(member))
			.map((member) -> type.getName() + "#" + signature(member));
	}

	private static boolean isVisible(JavaClass type) {
		return type.getModifiers().contains(JavaModifier.PUBLIC) && !type.isAnonymousClass()
				&& type.getEnclosingClass().map(PublicApiTests::isVisible).orElse(true);
	}

	private static boolean isVisible(JavaMember member) {
		return member.getModifiers().contains(JavaModifier.PUBLIC)
				|| (member.getModifiers().contains(JavaModifier.PROTECTED)
						&& !member.getOwner().getModifiers().contains(JavaModifier.FINAL));
	}

	private static boolean isGenerated(JavaMember member) {
		return member.getModifiers().contains(JavaModifier.SYNTHETIC)
				|| member.getModifiers().contains(JavaModifier.BRIDGE);
	}

	private static String signature(JavaMember member) {
		if (member instanceof JavaCodeUnit code) {
			return code.getRawParameterTypes()
				.stream()
				.map(JavaClass::getSimpleName)
				.collect(Collectors.joining(", ", code.getName() + "(",
						") : " + code.getRawReturnType().getSimpleName()));
		}
		return member.getName() + " : " + ((JavaField) member).getRawType().getSimpleName();
	}

}
