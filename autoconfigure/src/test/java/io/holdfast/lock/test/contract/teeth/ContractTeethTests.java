package io.holdfast.lock.test.contract.teeth;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

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
class ContractTeethTests {

	/** Cases that need a fault of the store. */
	private static final String[] FAULTY = { "lostReplyAfterGrantIsNotReportedAsContended",
			"abandonedGrantThatWasNeverHeardOfIsFree", "cutConnectionDoesNotFreeTheHolder",
			"storeIsUsableAgainAfterARestart", "silenceIsIndeterminate", "killedSessionReportsLost",
			"tokensGrowAcrossARestart", "tokensGrowAcrossAReconnection" };

	private static final String CROWD = "historyOfACrowdHasNoOverlapAndGrowingTokens";

	private static final String OVERTAKEN_WRITER = "overtakenWriterIsRefusedBesideAReaderAndThenGetsANewToken";

	private static final String OVERTAKEN_READER = "overtakenReaderIsRefusedBesideAWriterAndThenGetsANewToken";

	private static final String OVERTAKEN_OWNER = "overtakenOwnerGetsANewTokenAfterItsSuccessor";

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
		assertThat(cases(FlawedContracts.Sound.class, events.failed())).isEmpty();
		assertThat(cases(FlawedContracts.Sound.class, events.succeeded())).isEqualTo(everyCase());
	}

	@Test
	void storeThatFreesTheSuccessorIsFound() {
		found(FlawedContracts.FreesTheSuccessor.class, "lateReleaseDoesNotFreeTheSuccessor", "releaseIsIdempotent",
				"expiredLeaseIsGrantedToTheNextOwner", "leaseOfAReaderEndsOnItsOwn", "killedSessionReportsLost");
	}

	@Test
	void storeThatStealsOnRenewalIsFound() {
		found(FlawedContracts.StealsOnRenewal.class, "lateRenewalDoesNotStealFromTheSuccessor",
				"renewalAnswersEachInOrder", "leaseOfAReaderEndsOnItsOwn", OVERTAKEN_WRITER, OVERTAKEN_READER,
				"killedSessionReportsLost");
	}

	@Test
	void storeThatOnlySaysThatItRenewedIsFound() {
		found(FlawedContracts.OnlySaysThatItRenewed.class, "renewalExtendsTheLease", "renewalAnswersEachInOrder",
				"lateRenewalDoesNotStealFromTheSuccessor", "leaseOfAReaderEndsOnItsOwn", OVERTAKEN_WRITER,
				OVERTAKEN_READER, "killedSessionReportsLost");
	}

	@Test
	void storeThatDoesNotRetainIsFound() {
		found(FlawedContracts.OnlySaysThatItRetains.class, "retainingCutsALongLeaseShort",
				"retainingCutsALongLeaseThatIsNotRenewedShort", "retainingExtendsAShortLease",
				"retainedReaderKeepsWritersOutForTheTime", "retainingTooLateDoesNotStealFromTheSuccessor");
		found(FlawedContracts.ReleasesInsteadOfRetaining.class, "retainingCutsALongLeaseShort",
				"retainingCutsALongLeaseThatIsNotRenewedShort", "retainingExtendsAShortLease",
				"retainedReaderKeepsWritersOutForTheTime");
	}

	@Test
	void storeThatForgetsTheClaimIsFound() {
		found(FlawedContracts.ForgetsTheClaim.class, "abandonedGrantIsFree", "abandonedWaiterStandsInNobodysWay",
				"abandonedGrantThatWasNeverHeardOfIsFree", "abandonedGrantCompletesTheSignal",
				"abandoningNeverFreesAnother", "waiterThatLeavesBeforeTheReleaseDoesNotSwallowTheWakeUp",
				"waiterThatLeavesAfterTheReleaseDoesNotSwallowTheWakeUp", "tokensGrowAcrossAnAbandonedGrant",
				"silenceIsIndeterminate", "endOfOneReaderDoesNotEndTheOther", "writerThatGaveUpKeepsNoReaderOut",
				"fairWaiterThatGaveUpDoesNotBlockTheLine");
	}

	@Test
	void storeThatSwallowsAWakeUpIsFound() {
		found(FlawedContracts.SwallowsTheWakeUp.class, "waiterThatLeavesAfterTheReleaseDoesNotSwallowTheWakeUp",
				"fairWaiterThatGaveUpDoesNotBlockTheLine");
	}

	@Test
	void storeThatTakesSilenceForNoIsFound() {
		found(FlawedContracts.TakesSilenceForNo.class, "lostReplyAfterGrantIsNotReportedAsContended",
				"abandonedGrantThatWasNeverHeardOfIsFree", "silenceIsIndeterminate");
	}

	@Test
	void storeThatIsDeafToItsSessionIsFound() {
		found(FlawedContracts.DeafToItsSession.class, "killedSessionReportsLost");
	}

	@Test
	void storeThatRefusesItsOwnOwnerIsFound() {
		found(FlawedContracts.RefusesItsOwnOwner.class, "sameOwnerAskingAgainGetsTheSameGrant",
				"sameOwnerAskingAgainStartsTheLeaseAnew", "lostReplyAfterGrantIsNotReportedAsContended",
				"tokensGrowAcrossAReconnection");
	}

	@Test
	void tokenThatChangesOnRetryIsFound() {
		found(FlawedContracts.TokenChangesOnRetry.class, "sameOwnerAskingAgainGetsTheSameGrant",
				"tokensGrowFromReaderToReaderAndToWriter");
	}

	@Test
	void tokenThatDoesNotGrowIsFound() {
		String[] cases = { "tokensGrowAcrossReleases", "tokensGrowAcrossATakeover", "tokensGrowAcrossAnAbandonedGrant",
				"tokensGrowAcrossARestart", "tokensGrowAcrossAReconnection", "tokensGrowFromReaderToReaderAndToWriter",
				OVERTAKEN_OWNER, OVERTAKEN_WRITER, OVERTAKEN_READER, CROWD, "killedSessionReportsLost" };
		found(FlawedContracts.TokenRepeats.class, cases);
		found(FlawedContracts.TokenFalls.class, cases);
	}

	@Test
	void leaseOfTheWrongLengthIsFound() {
		found(FlawedContracts.KeepsHalfTheLease.class, "expiredLeaseIsGrantedToTheNextOwner", CROWD);
		found(FlawedContracts.KeepsTheLeaseForEver.class, "expiredLeaseIsGrantedToTheNextOwner",
				"retainingTooLateDoesNotStealFromTheSuccessor", "refusalSaysWhenToAskAgain",
				"tokensGrowAcrossATakeover", "lateReleaseDoesNotFreeTheSuccessor",
				"lateRenewalDoesNotStealFromTheSuccessor", "lateAbandonDoesNotFreeTheSuccessor",
				"overtakenOwnerAskingAgainIsRefused", OVERTAKEN_OWNER, OVERTAKEN_WRITER, OVERTAKEN_READER,
				"leaseOfAReaderEndsOnItsOwn", CROWD);
	}

	@Test
	void storeThatComparesHashesOfKeysIsFound() {
		found(FlawedContracts.ComparesHashesOfKeys.class, "locksThatDifferAreIndependent");
	}

	@Test
	void storeThatKnowsNoReadersIsFound() {
		found(FlawedContracts.KnowsNoReaders.class, "readersHoldTogetherAndKeepAWriterOut",
				"everyWaitingReaderGetsInAfterAWriter", "tokensGrowFromReaderToReaderAndToWriter",
				"leaseOfAReaderEndsOnItsOwn", "endOfOneReaderDoesNotEndTheOther", "writerThatGaveUpKeepsNoReaderOut");
	}

	@Test
	void storeThatKnowsNoOrderIsFound() {
		found(FlawedContracts.KnowsNoOrder.class, "fairClaimsAreGrantedInTheOrderOfTheirArrival",
				"newcomerDoesNotOvertakeAFairWaiter");
	}

	/** Without a wait queue, the outcome of the case with many contenders is random. */
	@Test
	void storeThatKeepsNoLineIsFound() {
		assertThat(cases(FlawedContracts.KeepsNoLine.class, events.failed())).contains("releaseCompletesTheSignal",
				"releaseLetsAWaiterInSoon", "waitingWriterIsNotStarvedByReaders", "newcomerDoesNotOvertakeAFairWaiter",
				"fairClaimsAreGrantedInTheOrderOfTheirArrival");
	}

	/** Each case with a refused claim leaves something in the store. */
	@Test
	void storeThatKeepsWhoHasNoPatienceIsFound() {
		assertThat(cases(FlawedContracts.KeepsWhoHasNoPatience.class, events.failed()))
			.contains("refusedClaimWithoutPatienceLeavesNothing", "clientsExcludeEachOther")
			.doesNotContain("grantSaysWhatWasGranted", "tokensGrowAcrossReleases");
	}

	@Test
	void storeOfEachClientsOwnIsFound() {
		assertThat(cases(FlawedContracts.HasAStoreForEachClient.class, events.failed())).contains(
				"clientsExcludeEachOther", "onlyOneOfManyContendersIsGranted", CROWD, "keyOfAnyTextIsALock",
				"lateReleaseDoesNotFreeTheSuccessor");
	}

	@Test
	void abilityThatIsHiddenIsFound() {
		found(FlawedContracts.HidesAnAbility.class, "everyDeclaredCapabilityIsExercised");
	}

	@Test
	void harnessThatIsMissingIsFound() {
		found(FlawedContracts.LacksAHarness.class, FAULTY);
	}

	@Test
	void caseThatNeedsWhatIsLackingIsNotGenerated() {
		found(FlawedContracts.LacksEveryFault.class);
		Set<String> applicable = everyCase();
		applicable.removeAll(Set.of(FAULTY));
		assertThat(cases(FlawedContracts.LacksEveryFault.class, events.started())).isEqualTo(applicable);
	}

	@Test
	void nothingIsSkipped() {
		assertThat(events.skipped().count()).isZero();
		assertThat(events.aborted().count()).isZero();
	}

	/**
	 * Asserts that exactly these cases detect the flaw. The case with many contenders may
	 * detect any flaw by chance, so it counts only if it is listed.
	 */
	private static void found(Class<? extends LockBackendContract> store, String... cases) {
		Set<String> found = cases(store, events.failed());
		if (!List.of(cases).contains(CROWD)) {
			found.remove(CROWD);
		}
		assertThat(found).as("cases that find %s", store.getSimpleName()).containsExactlyInAnyOrder(cases);
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
		Set<String> names = new TreeSet<>();
		Arrays.stream(LockBackendContract.class.getMethods())
			.filter(Method::isDefault)
			.map(Method::getName)
			.forEach(names::add);
		return names;
	}

}
