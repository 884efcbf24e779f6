package io.holdfast.lock.architecture;

import java.time.Clock;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the packages and the dependencies that are allowed between them.
 */
class ArchitectureTests {

	private static final String ROOT = "io.holdfast.lock";

	/** The packages that each package may import; {@code ""} is the root package. */
	private static final Map<String, List<String>> IMPORTS = imports();

	private static Map<String, List<String>> imports() {
		Map<String, List<String>> imports = new LinkedHashMap<>();
		imports.put("", List.of("support"));
		imports.put("spi", List.of(""));
		imports.put("spi.observation", List.of("", "support"));
		imports.put("support", List.of());
		imports.put("engine", List.of("", "spi", "spi.observation", "support"));
		for (String store : List.of("local", "redis", "zookeeper", "etcd", "jdbc")) {
			imports.put("backend." + store, List.of("", "spi", "support"));
		}
		imports.put("backend.redlock", List.of("", "spi", "support", "backend.redis"));
		imports.put("transaction", List.of("", "spi", "support"));
		imports.put("fencing", List.of("", "spi", "support"));
		imports.put("interceptor", List.of("", "engine", "transaction", "fencing", "support"));
		imports.put("observation", List.of("", "spi.observation"));
		imports.put("web", List.of("", "support"));
		imports.put("actuate", List.of("", "spi", "engine", "support"));
		imports.put("autoconfigure", imports.keySet().stream().toList());
		return imports;
	}

	static Stream<String> everyPackage() {
		return IMPORTS.keySet().stream();
	}

	@ParameterizedTest(name = "package [{0}]")
	@MethodSource("everyPackage")
	void packageImportsOnlyAllowedPackages(String name) {
		Set<String> allowed = IMPORTS.get(name).stream().map(ArchitectureTests::packageOf).collect(Collectors.toSet());
		allowed.add(packageOf(name));
		noClasses().that()
			.resideInAPackage(packageOf(name))
			.should()
			.dependOnClassesThat(describe("are in a package other than " + new TreeSet<>(allowed),
					(type) -> type.getPackageName().startsWith("io.holdfast")
							&& !allowed.contains(type.getPackageName())))
			.allowEmptyShould(true)
			.check(MainClasses.ALL);
	}

	@Test
	void everyPackageHasAllowedImports() {
		Set<String> known = IMPORTS.keySet().stream().map(ArchitectureTests::packageOf).collect(Collectors.toSet());
		assertThat(packages()).isNotEmpty().isSubsetOf(known);
	}

	@Test
	void packagesFormNoCycle() {
		slices().matching("io.holdfast.(**)").should().beFreeOfCycles().check(MainClasses.ALL);
	}

	@Test
	void everyPackageIsNullMarkedAndDocumented() {
		Map<String, String> packageInfos = Sources.packageInfos();
		assertThat(packageInfos).containsOnlyKeys(packages());
		assertThat(packageInfos).allSatisfy((name, source) -> assertThat(source).as("package-info of %s", name)
			.contains("@" + NullMarked.class.getSimpleName())
			.startsWith("/**"));
	}

	@Test
	void nothingReadsTheWallClock() {
		ArchRule rule = noClasses().that()
			.doNotHaveFullyQualifiedName(ROOT + ".backend.local.LocalLockBackend")
			.should()
			.accessTargetWhere(describe("reads the wall clock", ArchitectureTests::readsTheWallClock))
			.because("time is measured by nanoTime, and expiry is judged by the store");
		rule.check(MainClasses.ALL);
	}

	@Test
	void localStoreReadsTheWallClockOnceForTheSeedOfItsTokens() {
		JavaClass localStore = MainClasses.ALL.get(ROOT + ".backend.local.LocalLockBackend");
		assertThat(localStore.getAccessesFromSelf()).filteredOn(ArchitectureTests::readsTheWallClock)
			.singleElement()
			.satisfies((access) -> assertThat(access.getOrigin().getName()).isEqualTo("<clinit>"));
	}

	/**
	 * Exempt are the local store, whose clock a test can replace, and the timers that
	 * callers set.
	 */
	@Test
	void backendsAndEngineTakeTimeFromTheirSchedulingClock() {
		noClasses().that()
			.resideInAnyPackage(packageOf("engine"), ROOT + ".backend..")
			.and()
			.doNotHaveFullyQualifiedName(ROOT + ".backend.local.LocalLockBackend")
			.and()
			.doNotHaveFullyQualifiedName(ROOT + ".engine.WithdrawableFuture")
			.should()
			.accessTargetWhere(describe("takes the time of the system", ArchitectureTests::takesSystemTime))
			.because("tests and simulations control all of it")
			.check(MainClasses.ALL);
	}

	private static boolean takesSystemTime(JavaAccess<?> access) {
		JavaClass owner = access.getTargetOwner();
		return (owner.isEquivalentTo(System.class) && access.getName().equals("nanoTime"))
				|| (owner.isEquivalentTo(CompletableFuture.class)
						&& Set.of("orTimeout", "completeOnTimeout", "delayedExecutor").contains(access.getName()));
	}

	@ParameterizedTest
	@CsvSource({ "Redisson, org.redisson..", "Lettuce, io.lettuce.." })
	void onlyAnAdapterUsesALibraryOfRedis(String prefix, String library) {
		noClasses().that()
			.resideInAPackage(ROOT + ".backend..")
			.and()
			.haveNameNotMatching(".*\\." + prefix + "[^.]*")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(library)
			.because("an application may lack the library")
			.check(MainClasses.ALL);
	}

	@ParameterizedTest
	@CsvSource({ "RedisFencingGuard, org.redisson..", "SpringDataRedisFencingGuard, org.springframework.data.." })
	void onlyOneGuardUsesALibraryOfRedis(String guard, String library) {
		noClasses().that()
			.resideInAPackage(packageOf("fencing"))
			.and()
			.haveNameNotMatching(".*\\." + guard + "(\\$.*)?")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(library)
			.because("an application that lacks the library may use the other guard")
			.check(MainClasses.ALL);
	}

	/** The log of the observer is guarded by {@code GuardedLockObserver}. */
	@Test
	void backendsAndEngineLogThroughGuardedLog() {
		noClasses().that()
			.resideInAnyPackage(packageOf("engine"), packageOf("spi.observation"), ROOT + ".backend..")
			.and()
			.doNotHaveFullyQualifiedName(ROOT + ".engine.LoggingLockObserver")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.apache.commons.logging..")
			.because("an appender that throws would end a step of a lock")
			.check(MainClasses.ALL);
	}

	@Test
	void engineHasNoSynchronizedMethod() {
		methods().that()
			.areDeclaredInClassesThat()
			.resideInAPackage(packageOf("engine"))
			.should()
			.notHaveModifier(JavaModifier.SYNCHRONIZED)
			.because("a virtual thread that blocks in it would pin its carrier")
			.check(MainClasses.ALL);
	}

	@Test
	void nothingWritesToStandardOutput() {
		noClasses().should()
			.accessTargetWhere(describe("uses System.out or System.err",
					(access) -> access.getTargetOwner().isEquivalentTo(System.class)
							&& Set.of("out", "err").contains(access.getName())))
			.check(MainClasses.ALL);
	}

	@Test
	void noTextDependsOnTheDefaultLocale() {
		Pattern localized = Pattern.compile("%[-#+0,(\\d.$]*[a-zA-Z&&[^snxB]]|(toLowerCase|toUpperCase)\\(\\)");
		assertThat(Sources.files()).allSatisfy((file) -> assertThat(Sources.text(file)
			.lines()
			.filter((line) -> !line.contains("Locale.ROOT") && localized.matcher(line).find()))
			.as("write a number with %%s or a Locale: digits and case differ by locale. In %s", file)
			.isEmpty());
	}

	private static boolean readsTheWallClock(JavaAccess<?> access) {
		JavaClass owner = access.getTargetOwner();
		String name = access.getName();
		return owner.isEquivalentTo(System.class) && name.equals("currentTimeMillis")
				|| owner.getPackageName().equals("java.time") && name.equals("now")
				|| owner.isEquivalentTo(Clock.class) && name.startsWith("system")
				|| owner.isEquivalentTo(Date.class) && isConstructorWithoutArguments(access)
				|| owner.getName().equals("java.util.Calendar") && name.equals("getInstance");
	}

	private static boolean isConstructorWithoutArguments(JavaAccess<?> access) {
		return access.getName().equals("<init>") && access.getTarget().getFullName().endsWith("<init>()");
	}

	private static Set<String> packages() {
		return MainClasses.ALL.stream()
			.filter((type) -> !type.getSimpleName().equals("package-info"))
			.map(JavaClass::getPackageName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static String packageOf(String name) {
		return name.isEmpty() ? ROOT : ROOT + "." + name;
	}

}
