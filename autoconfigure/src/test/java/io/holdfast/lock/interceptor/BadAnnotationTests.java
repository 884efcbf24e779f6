package io.holdfast.lock.interceptor;

import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.PoorLockBackend;

import static io.holdfast.lock.interceptor.LocalLocks.plainRunner;
import static io.holdfast.lock.interceptor.RefusedBeans.failure;
import static io.holdfast.lock.interceptor.RefusedBeans.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that annotations that could never work fail the startup, with a message that
 * names the method and the remedy.
 */
class BadAnnotationTests {

	@Test
	void maxHoldBelowLeaseOrMinHold() {
		refused(MaxHoldBelowLease.class, "maxHold of lock 'stock' is 2s, but its leaseTime is 1h",
				"Set leaseTime to at most 2s");
		refused(MaxHoldBelowMinHold.class, "maxHold of lock 'stock' is 1m, but its minHold is 5m",
				"Set minHold to at most 1m");
	}

	@Test
	void maxHoldBelowTheLeaseOfTheApplication() {
		refused(MaxHoldOnly.class, "asks for a maxHold of 20s, but its lease is 30s ('distributed-lock.lease-time')",
				"Set a 'leaseTime' of at most 20s");
		plainRunner().withBean(MaxHoldOnly.class)
			.withPropertyValues("distributed-lock.lease-time=20s")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void noName() {
		refused(NoName.class, "it has no name", "name = \"stock\"");
	}

	@Test
	void nameThatNoMeterTagCouldHave() {
		refused(BadName.class, "Lock name 'stock:42' is not valid", "put the variable part into the key");
	}

	@Test
	void textThatIsNoDuration() {
		refused(BadDuration.class, "its waitTime is 'soon', which is not a duration", "'5s'");
	}

	@Test
	void negativeDuration() {
		refused(NegativeDuration.class, "waitTime of lock 'stock' is -1s");
	}

	@Test
	void leaseThatIsTooShort() {
		refused(ZeroLease.class, "leaseTime of lock 'stock' is 0s");
	}

	@Test
	void keyThatIsNoExpression() {
		refused(BadSpel.class, "is not a valid SpEL expression");
		refused(BlankKey.class, "its key, or a part of it, is blank");
		refused(EmptyPart.class, "its key, or a part of it, is blank");
	}

	@Test
	void keyThatIsTheSameForAllCallsAndIdentifiesNothing() {
		refused(NullKey.class, "its key \"null\" is null, so unrelated calls would share one lock");
		refused(EmptyText.class, "its key \"''\" is blank, so unrelated calls would share one lock");
	}

	@Test
	void keyThatNamesNoPropertyOfARecord() {
		refused(UnknownProperty.class, "refers to 'custmer', which the type Order does not have");
		plainRunner().withBean(KnownProperties.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void keyThatNamesNoParameter() {
		refused(UnknownVariable.class, "uses #ident", "the parameters are named [id]");
	}

	@Test
	void keyOfAMethodWithoutParameters() {
		refused(NoParameter.class, "uses #id, but the method has no parameters", "or omit the key");
	}

	@Test
	void missingPosition() {
		refused(UnknownPosition.class, "uses #p00, #p1, #p12345678901, but");
	}

	@Test
	void fencedWhereNothingChecks() {
		refused(Fenced.class, "'fenced = true'", "would not be fenced", "spring-boot-starter-jdbc");
	}

	@Test
	void unknownStore() {
		refused(UnknownStore.class, "names the lock backend 'paper', which does not exist", "[local]");
		refused(MisspelledStore.class, "names the lock backend 'Locl', which does not exist", "Did you mean 'local'?");
	}

	@Test
	void missingBeanOfTheKey() {
		refused(UnknownBean.class, "refers to the bean 'tenants', which does not exist");
		refused(UnknownBeanOfAPart.class, "refers to the bean 'my.tenants', which does not exist");
	}

	@Test
	void placeholderThatCannotBeResolved() {
		refused(UnknownPlaceholder.class, "its name is \"${app.lock}\", whose placeholder cannot be resolved",
				"Set that property, or write a default");
		refused(UnknownPlaceholderOfTheKey.class,
				"its key is \"#id + '${app.suffix}'\", whose placeholder cannot be resolved");
		plainRunner().withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class))
			.withBean(UnknownPlaceholder.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("its name is \"${app.lock}\", whose placeholder cannot be resolved: ", "write a default"));
	}

	@Test
	void capabilityThatTheStoreLacks() {
		plainRunner().withBean(LockBackends.class, () -> new LockBackends(List.of(new PoorLockBackend()), "poor"))
			.withBean(Shared.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("Shared.call()", "mode = SHARED", "'poor' does not support"));
		plainRunner().withBean(LockBackends.class, () -> new LockBackends(List.of(new PoorLockBackend()), "poor"))
			.withBean(Fair.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("Fair.call()", "fair = true", "'poor' keeps no order of arrival"));
	}

	@Test
	void namesThatAreNotInTheClassFile() throws Exception {
		Class<?> compiled = WithoutParameterNames.compile();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new LockMethodVerifier(new LockMethodSpecs((text) -> text, null)).verify(compiled))
			.withMessageContaining("the class file contains no parameter names")
			.withMessageContaining("-parameters")
			.withMessageContaining("#p0");
	}

	@Test
	void beanThatIsCreatedLaterIsCheckedThen() {
		plainRunner().withBean(UnknownStore.class, UnknownStore::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(UnknownStore.class))
					.withMessageContaining("names the lock backend 'paper'");
			});
	}

	static class NoName {

		@DistributedLock
		public void call() {
		}

	}

	static class BadName {

		@DistributedLock("stock:42")
		public void call() {
		}

	}

	static class BadDuration {

		@DistributedLock(name = "stock", waitTime = "soon")
		public void call() {
		}

	}

	static class NegativeDuration {

		@DistributedLock(name = "stock", waitTime = "-1s")
		public void call() {
		}

	}

	static class ZeroLease {

		@DistributedLock(name = "stock", leaseTime = "0s")
		public void call() {
		}

	}

	static class BlankKey {

		@DistributedLock(name = "stock", key = "${none: }")
		public void call() {
		}

	}

	record Order(long customer, Optional<String> note) {

		public boolean isPaid() {
			return false;
		}

	}

	static class UnknownProperty {

		@DistributedLock(name = "stock", key = "'order-' + #order.custmer")
		public void call(Order order) {
		}

	}

	static class KnownProperties {

		@DistributedLock(name = "stock", keys = { "#order.customer", "#order?.note", "#order.paid", "#name.length",
				"#name.empty", "#ids.length", "#next.customer", "#previous?.customer" })
		public void call(Order order, String name, long[] ids, Object next, Optional<Order> previous) {
		}

	}

	static class NullKey {

		@DistributedLock(name = "stock", key = "null")
		public void call() {
		}

	}

	static class EmptyText {

		@DistributedLock(name = "stock", keys = { "#id", "''" })
		public void call(long id) {
		}

	}

	static class EmptyPart {

		@DistributedLock(name = "stock", keys = { "#id", "" })
		public void call(long id) {
		}

	}

	static class BadSpel {

		@DistributedLock(name = "stock", key = "#id +")
		public void call(long id) {
		}

	}

	static class NoParameter {

		@DistributedLock(name = "stock", key = "#id")
		public void call() {
		}

	}

	static class UnknownVariable {

		@DistributedLock(name = "stock", key = "#ident")
		public void call(long id) {
		}

	}

	static class UnknownPosition {

		@DistributedLock(name = "stock", key = "#p0 + #p1 + #p00 + #p12345678901")
		public void call(long id) {
		}

	}

	static class Fenced {

		@DistributedLock(name = "stock", fenced = true)
		public void call() {
		}

	}

	static class MisspelledStore {

		@DistributedLock(name = "stock", backend = "Locl")
		public void call() {
		}

	}

	static class UnknownBean {

		@DistributedLock(name = "stock", key = "#id + @tenants.current()")
		public void call(String id) {
		}

	}

	static class UnknownBeanOfAPart {

		@DistributedLock(name = "stock", keys = { "#id", "@'my.tenants'.current()" })
		public void call(String id) {
		}

	}

	static class UnknownPlaceholder {

		@DistributedLock("${app.lock}")
		public void call() {
		}

	}

	static class UnknownPlaceholderOfTheKey {

		@DistributedLock(name = "stock", key = "#id + '${app.suffix}'")
		public void call(String id) {
		}

	}

	static class UnknownStore {

		@DistributedLock(name = "stock", backend = "paper")
		public void call() {
		}

	}

	static class Shared {

		@DistributedLock(name = "stock", mode = LockMode.SHARED)
		public void call() {
		}

	}

	static class Fair {

		@DistributedLock(name = "stock", fair = true)
		public void call() {
		}

	}

	static class MaxHoldBelowLease {

		@DistributedLock(name = "stock", leaseTime = "1h", maxHold = "2s")
		public void locked() {
		}

	}

	static class MaxHoldOnly {

		@DistributedLock(name = "stock", maxHold = "20s")
		public void call() {
		}

	}

	static class MaxHoldBelowMinHold {

		@DistributedLock(name = "stock", maxHold = "1m", minHold = "5m")
		public void locked() {
		}

	}

}
