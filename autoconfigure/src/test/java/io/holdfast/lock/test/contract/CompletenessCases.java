package io.holdfast.lock.test.contract;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that the contract is complete: each ability is exercised, each one
 * that is lacking is reported, and no case is overridden.
 */
interface CompletenessCases {

	@Test
	default void missingAbilitiesAreListed(Bench bench, TestReporter reporter) {
		Map<Ability, String> lacks = bench.contract().lacks();
		assertThat(lacks.values()).as("reasons in lacks()").allMatch((reason) -> !reason.isBlank());
		for (Method method : cases().filter((candidate) -> candidate.isAnnotationPresent(Needs.class)).toList()) {
			List<Ability> missing = needs(method).filter(lacks::containsKey).toList();
			if (!missing.isEmpty()) {
				reporter.publishEntry(method.getName(), "not applicable: " + lacks.get(missing.get(0)));
			}
		}
	}

	@Test
	default void everyDeclaredCapabilityIsExercised(Bench bench) {
		Set<Ability> exercised = EnumSet.noneOf(Ability.class);
		cases().flatMap(CompletenessCases::needs).forEach(exercised::add);
		assertThat(exercised).as("abilities that some case needs").containsExactly(Ability.values());
		BackendCapabilities capabilities = bench.first().capabilities();
		Set<Ability> lacks = bench.contract().lacks().keySet();
		assertThat(capabilities.has(Capability.SHARED)).as("capability 'shared'")
			.isNotEqualTo(lacks.contains(Ability.SHARED));
		assertThat(capabilities.has(Capability.FAIR)).as("capability 'fair'")
			.isNotEqualTo(lacks.contains(Ability.FAIR));
		assertThat(capabilities.has(Capability.DEMAND)).as("capability 'demand'")
			.isNotEqualTo(lacks.contains(Ability.DEMAND));
		assertThat(capabilities.shortestLease()).as("capability 'shortestLease'").isPositive();
	}

	@Test
	default void bothClientsAreOfOneStore(Bench bench) {
		assertThat(bench.first().name()).isNotBlank().isEqualTo(bench.second().name());
		assertThat(bench.first().capabilities()).isEqualTo(bench.second().capabilities());
	}

	@Test
	default void noCaseIsOverridden(Bench bench) throws Exception {
		Set<String> overridden = new TreeSet<>();
		for (Method method : cases().toList()) {
			Class<?> declaring = bench.contract()
				.getClass()
				.getMethod(method.getName(), method.getParameterTypes())
				.getDeclaringClass();
			if (declaring != method.getDeclaringClass()) {
				overridden.add(method.getName());
			}
		}
		assertThat(overridden).as("cases that the store's test class overrides").isEmpty();
	}

	private static Stream<Method> cases() {
		return Arrays.stream(LockBackendContract.class.getInterfaces())
			.flatMap((subject) -> Arrays.stream(subject.getDeclaredMethods()))
			.filter(Method::isDefault);
	}

	private static Stream<Ability> needs(Method method) {
		Needs needs = method.getAnnotation(Needs.class);
		return (needs != null) ? Arrays.stream(needs.value()) : Stream.empty();
	}

}
