package io.holdfast.lock.test.contract.selftest;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import io.holdfast.lock.test.contract.LockBackendContract;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the relevant cases of the contract detect each flaw, that other cases do
 * not, and that a sound store passes all cases.
 */
class ContractSelfTests {

	private static final String BLOCKING = "methodThatWaitsOnItsThreadIsDeclaredBlocking";

	/** Cases that need a fault of the store. */
	private static final String[] FAULTY = { "lostReplyAfterGrantIsNotReportedAsContended",
			"abandonedGrantWithLostReplyIsReleased", "cutConnectionDoesNotFreeTheHolder",
			"storeIsUsableAgainAfterARestart", "unansweredRequestIsIndeterminate", BLOCKING, "killedSessionReportsLost",
			"tokensGrowAcrossARestart", "tokensGrowAcrossAReconnection" };

	private static final String HISTORY = "concurrentHoldsDoNotOverlapAndTokensGrow";

	private static final String STALE_WRITER = "staleWriterIsRefusedBesideAReaderAndGetsANewToken";

	private static final String STALE_READER = "staleReaderIsRefusedBesideAWriterAndGetsANewToken";

	private static final String STALE_OWNER = "staleOwnerGetsANewTokenAfterItsSuccessor";

	private static final String FOUND = "holderIsFoundByAnotherClient";

	private static final String READERS = "everyReaderIsFoundButNoWaitingWriter";

	private static final String WAITERS = "everyWaitingClaimIsCounted";

	private static final String REVOKED = "revokedHolderFreesTheLockForAGreaterToken";

	private static Events events;

	/** Runs all contracts in parallel, because they mostly wait. */
	@BeforeAll
	static void runTheContractOverEveryStore() {
		Class<?>[] contracts = FlawedContracts.class.getDeclaredClasses();
		events = EngineTestKit.engine("junit-jupiter")
			.selectors(Arrays.stream(contracts).map(DiscoverySelectors::selectClass).toArray(ClassSelector[]::new))
			.configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
			.configurationParameter("junit.jupiter.execution.parallel.mode.default", "same_thread")
			.configurationParameter("junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
			.configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
			.configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism",
					Integer.toString(contracts.length))
			.execute()
			.testEvents();
	}

	@Test
	void soundStorePassesEveryCase() {
		found(FlawedContracts.Sound.class);
		assertThat(cases(FlawedContracts.Sound.class, events.started())).isEqualTo(everyCase());
	}

	@Test
	void storeThatFreesTheSuccessorIsFound() {
		found(FlawedContracts.FreesTheSuccessor.class, "lateReleaseDoesNotFreeTheSuccessor", "releaseIsIdempotent",
				"expiredLeaseIsGrantedToTheNextOwner", "leaseOfAReaderExpiresIndependently", "killedSessionReportsLost",
				REVOKED, "holderOfTheSameClientIsRevoked", "revocationOfAFormerHolderDoesNotAffectItsSuccessor");
	}

	@Test
	void storeThatStealsOnRenewalIsFound() {
		found(FlawedContracts.StealsOnRenewal.class, "lateRenewalDoesNotStealFromTheSuccessor",
				"renewalReturnsResultsInOrder", "leaseOfAReaderExpiresIndependently", STALE_WRITER, STALE_READER,
				"killedSessionReportsLost", REVOKED);
	}

	@Test
	void storeThatReportsRenewalWithoutRenewingIsFound() {
		found(FlawedContracts.ReportsRenewalWithoutRenewing.class, "renewalExtendsTheLease",
				"renewalReturnsResultsInOrder", "lateRenewalDoesNotStealFromTheSuccessor",
				"leaseOfAReaderExpiresIndependently", STALE_WRITER, STALE_READER, "killedSessionReportsLost", REVOKED);
	}

	@Test
	void storeThatDoesNotRetainIsFound() {
		found(FlawedContracts.ReportsRetainWithoutRetaining.class, "retainShortensALongLease",
				"retainShortensALongLeaseWithoutRenewal", "retainExtendsAShortLease",
				"retainedReaderExcludesWritersForTheDuration", "lateRetainDoesNotAffectTheSuccessor");
		found(FlawedContracts.ReleasesInsteadOfRetaining.class, "retainShortensALongLease",
				"retainShortensALongLeaseWithoutRenewal", "retainExtendsAShortLease",
				"retainedReaderExcludesWritersForTheDuration");
	}

	@Test
	void storeThatIgnoresAbandonIsFound() {
		found(FlawedContracts.IgnoresAbandon.class, "abandonedGrantIsReleased", "abandonedWaiterBlocksNoClaim",
				"abandonedGrantWithLostReplyIsReleased", "abandonedGrantCompletesTheSignal",
				"abandonNeverReleasesAnotherOwner", "waiterAbandonedBeforeTheReleaseLosesNoSignal",
				"waiterAbandonedAfterTheReleaseLosesNoSignal", "tokensGrowAcrossAnAbandonedGrant",
				"unansweredRequestIsIndeterminate", BLOCKING, "releaseOfOneReaderDoesNotReleaseTheOther",
				"abandonedWriterBlocksNoReader", "abandonedFairWaiterDoesNotBlockTheQueue", READERS, WAITERS);
	}

	@Test
	void storeThatHidesItsHoldersIsFound() {
		found(FlawedContracts.HidesHolders.class, FOUND, READERS, WAITERS, REVOKED, "holderOfTheSameClientIsRevoked",
				"revocationNotifiesAWaiter", "revocationOfAFormerHolderDoesNotAffectItsSuccessor",
				"stickyLeaseIsRenewedFoundAndRevoked");
	}

	@Test
	void storeThatHidesItsWaitersIsFound() {
		found(FlawedContracts.HidesWaiters.class, WAITERS, READERS, "revocationNotifiesAWaiter");
	}

	@Test
	void storeThatRevokesTheSuccessorIsFound() {
		found(FlawedContracts.RevokesTheSuccessor.class, "revocationOfAFormerHolderDoesNotAffectItsSuccessor", READERS,
				REVOKED);
	}

	@Test
	void storeThatIgnoresDemandIsFound() {
		found(FlawedContracts.IgnoresDemand.class, "rejectedClaimDemandsAStickyLease",
				"stickyLeaseIsWantedIfOthersAlreadyWait");
	}

	@Test
	void storeThatDropsASignalIsFound() {
		found(FlawedContracts.DropsTheSignal.class, "waiterAbandonedAfterTheReleaseLosesNoSignal",
				"abandonedFairWaiterDoesNotBlockTheQueue");
	}

	@Test
	void storeThatReportsUnansweredAsContendedIsFound() {
		found(FlawedContracts.ReportsUnansweredAsContended.class, "lostReplyAfterGrantIsNotReportedAsContended",
				"abandonedGrantWithLostReplyIsReleased", "unansweredRequestIsIndeterminate");
	}

	@Test
	void storeThatWaitsOnTheCallersThreadIsFound() {
		found(FlawedContracts.WaitsToAcquire.class, BLOCKING);
		found(FlawedContracts.WaitsToAbandon.class, BLOCKING);
	}

	@Test
	void storeThatSaysThatItBlocksButDoesNotIsFound() {
		found(FlawedContracts.SaysThatItBlocks.class, BLOCKING);
	}

	@Test
	void storeThatIgnoresSessionEndIsFound() {
		found(FlawedContracts.IgnoresSessionEnd.class, "killedSessionReportsLost");
	}

	@Test
	void storeThatRefusesARetryOfItsOwnerIsFound() {
		found(FlawedContracts.RefusesARetryOfItsOwner.class, "repeatedRequestOfAnOwnerReturnsTheSameGrant",
				"repeatedRequestOfAnOwnerRestartsTheLease", "lostReplyAfterGrantIsNotReportedAsContended",
				"tokensGrowAcrossAReconnection");
	}

	@Test
	void tokenThatChangesOnRetryIsFound() {
		found(FlawedContracts.TokenChangesOnRetry.class, "repeatedRequestOfAnOwnerReturnsTheSameGrant",
				"tokensGrowFromReaderToReaderAndToWriter", FOUND);
	}

	@Test
	void tokenThatDoesNotGrowIsFound() {
		String[] cases = { "tokensGrowAcrossReleases", "tokensGrowAcrossATakeover", "tokensGrowAcrossAnAbandonedGrant",
				"tokensGrowAcrossARestart", "tokensGrowAcrossAReconnection", "tokensGrowFromReaderToReaderAndToWriter",
				STALE_OWNER, STALE_WRITER, STALE_READER, HISTORY, "killedSessionReportsLost", FOUND, REVOKED };
		found(FlawedContracts.TokenRepeats.class, cases);
		found(FlawedContracts.TokenFalls.class, cases);
	}

	@Test
	void leaseOfTheWrongLengthIsFound() {
		found(FlawedContracts.KeepsHalfTheLease.class, "expiredLeaseIsGrantedToTheNextOwner", HISTORY);
		found(FlawedContracts.NeverExpiresLeases.class, "expiredLeaseIsGrantedToTheNextOwner",
				"lateRetainDoesNotAffectTheSuccessor", "contendedResultHasARetryDelay", "tokensGrowAcrossATakeover",
				"lateReleaseDoesNotFreeTheSuccessor", "lateRenewalDoesNotStealFromTheSuccessor",
				"lateAbandonDoesNotFreeTheSuccessor", "staleOwnerIsRefusedWhenItRetries", STALE_OWNER, STALE_WRITER,
				STALE_READER, "leaseOfAReaderExpiresIndependently", HISTORY, FOUND);
	}

	@Test
	void storeThatComparesHashesOfKeysIsFound() {
		found(FlawedContracts.ComparesHashesOfKeys.class, "locksThatDifferAreIndependent");
	}

	@Test
	void storeWithoutSharedModeIsFound() {
		found(FlawedContracts.LacksSharedMode.class, "readersShareTheLockAndExcludeAWriter",
				"everyWaitingReaderAcquiresAfterAWriter", "tokensGrowFromReaderToReaderAndToWriter",
				"leaseOfAReaderExpiresIndependently", "releaseOfOneReaderDoesNotReleaseTheOther",
				"abandonedWriterBlocksNoReader", "waitingReaderIsNotStarvedByWriters", READERS);
	}

	@Test
	void storeWithoutFairOrderIsFound() {
		found(FlawedContracts.LacksFairOrder.class, "fairClaimsAreGrantedInTheOrderOfTheirArrival",
				"newcomerDoesNotOvertakeAFairWaiter");
	}

	/** Without a wait queue, the outcome of the case with many contenders is random. */
	@Test
	void storeWithoutWaitQueueIsFound() {
		assertThat(cases(FlawedContracts.KeepsNoWaitQueue.class, events.failed())).contains("releaseCompletesTheSignal",
				"releaseGrantsTheLockToAWaiterSoon", "waitingWriterIsNotStarvedByReaders",
				"newcomerDoesNotOvertakeAFairWaiter", "fairClaimsAreGrantedInTheOrderOfTheirArrival");
	}

	/** Each case with a refused claim leaves something in the store. */
	@Test
	void storeThatKeepsClaimsThatDoNotWaitIsFound() {
		assertThat(cases(FlawedContracts.KeepsClaimsThatDoNotWait.class, events.failed()))
			.contains("contendedClaimWithoutWaitTimeLeavesNothing", "clientsExcludeEachOther")
			.doesNotContain("grantDescribesTheClaim", "tokensGrowAcrossReleases");
	}

	@Test
	void separateStoreForEachClientIsFound() {
		assertThat(cases(FlawedContracts.HasAStoreForEachClient.class, events.failed())).contains(
				"clientsExcludeEachOther", "onlyOneOfManyContendersIsGranted", HISTORY, "anyTextIsAValidKey",
				"lateReleaseDoesNotFreeTheSuccessor");
	}

	@Test
	void hiddenAbilityIsFound() {
		found(FlawedContracts.HidesAnAbility.class, "everyDeclaredCapabilityIsExercised");
	}

	@Test
	void missingHarnessIsFound() {
		found(FlawedContracts.LacksAHarness.class, FAULTY);
	}

	@Test
	void caseThatNeedsAMissingAbilityIsNotGenerated() {
		found(FlawedContracts.LacksEveryFault.class);
		Set<String> applicable = everyCase();
		applicable.removeAll(Set.of(FAULTY));
		assertThat(cases(FlawedContracts.LacksEveryFault.class, events.started())).isEqualTo(applicable);
	}

	/** Otherwise a case that exceeds its bound on a busy machine would count. */
	@Test
	void caseWithFurtherParametersCanRunAlone() {
		assertThat(passesAlone(FlawedContracts.Sound.class, "anyTextIsAValidKey")).isTrue();
	}

	@Test
	void nothingIsSkipped() {
		assertThat(events.skipped().count()).isZero();
		assertThat(events.aborted().count()).isZero();
	}

	/**
	 * Asserts that exactly these cases detect the flaw. The case with many contenders may
	 * detect any flaw by chance, so it counts only if it is listed. All contracts run at
	 * the same time, and a case may exceed its bound on a busy machine. Another case
	 * therefore counts only if it also fails alone.
	 */
	private static void found(Class<? extends LockBackendContract> store, String... cases) {
		Set<String> found = cases(store, events.failed());
		if (!List.of(cases).contains(HISTORY)) {
			found.remove(HISTORY);
		}
		found.removeIf((name) -> !List.of(cases).contains(name) && passesAlone(store, name));
		assertThat(found).as("cases that find %s", store.getSimpleName()).containsExactlyInAnyOrder(cases);
	}

	private static boolean passesAlone(Class<? extends LockBackendContract> store, String name) {
		Events alone = EngineTestKit.engine("junit-jupiter")
			.selectors(DiscoverySelectors.selectMethod(store, name, parametersOf(name)))
			.execute()
			.testEvents();
		return alone.started().count() > 0 && alone.failed().count() == 0;
	}

	private static String parametersOf(String name) {
		return cases().filter((method) -> method.getName().equals(name))
			.flatMap((method) -> Arrays.stream(method.getParameterTypes()))
			.map(Class::getName)
			.collect(Collectors.joining(","));
	}

	private static Stream<Method> cases() {
		return Arrays.stream(LockBackendContract.class.getMethods()).filter(Method::isDefault);
	}

	private static Set<String> cases(Class<?> store, Events events) {
		Set<String> names = new TreeSet<>();
		events.stream()
			.map((event) -> (MethodSource) event.getTestDescriptor().getSource().orElseThrow())
			.filter((source) -> source.getJavaClass() == store)
			.map(MethodSource::getMethodName)
			.forEach(names::add);
		return names;
	}

	private static Set<String> everyCase() {
		return cases().map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
	}

}
