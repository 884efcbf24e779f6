package io.holdfast.lock.interceptor;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

import org.junit.jupiter.api.Test;

import org.springframework.core.annotation.AliasFor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;

import static io.holdfast.lock.interceptor.LocalLocks.plainRunner;
import static io.holdfast.lock.interceptor.RefusedBeans.failure;
import static io.holdfast.lock.interceptor.RefusedBeans.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for methods to which several lock annotations might apply.
 */
class SeveralAnnotationsTests {

	@Test
	void twoComposedAnnotations() {
		refused(TwoComposed.class, "@StockLock on TwoComposed.call() and @BookingLock on TwoComposed.call()",
				"of which only one would apply", "Keep one of them");
	}

	@Test
	void oneBesideAComposedAnnotation() {
		refused(DirectAndComposed.class, "@DistributedLock on DirectAndComposed.call() and @StockLock");
	}

	@Test
	void twoOnAClass() {
		refused(TwoOnAClass.class, "@StockLock on class", "@BookingLock on class");
	}

	@Test
	void unrelatedInterfaces() {
		refused(TwoInterfaces.class, "@StockLock on Stocks.call() and @BookingLock on Bookings.call()");
	}

	/** The class does not declare the method of the interface, but inherits it. */
	@Test
	void unrelatedSuperclassAndInterface() {
		plainRunner().withBean(Inheriting.class)
			.run((context) -> assertThat(failure(context)).hasMessageContaining(
					"@StockLock on Unrelated.call() and @BookingLock on Bookings.call(), of which only one would apply"));
	}

	@Test
	void annotationOfASubtypeOverridesThatOfItsSupertype() {
		assertLock(Overriding.class, "booking:7");
		assertLock(OfTheSubinterface.class, "booking:7");
	}

	@Test
	void equalAnnotationsAreOne() {
		assertLock(TwiceTheSame.class, "stock:7");
	}

	/** The annotation of the method replaces that of its class. */
	@Test
	void oneOnTheClassAndOneOnTheMethod() {
		assertLock(OnClassAndMethod.class, "booking:7");
	}

	private static void assertLock(Class<? extends Target> type, String lock) {
		plainRunner().withBean(type)
			.run((context) -> assertThat(context.getBean(Target.class).call(7, null)).isEqualTo(lock));
	}

	interface Target {

		String call(long id, LockHandle handle);

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "stock")
	@interface StockLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "booking")
	@interface BookingLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}

	static class TwoComposed {

		@StockLock("#id")
		@BookingLock("#id")
		public void call(long id) {
		}

	}

	static class DirectAndComposed {

		@StockLock("#id")
		@DistributedLock(name = "booking", key = "#id")
		public void call(long id) {
		}

	}

	@StockLock("#id")
	@BookingLock("#id")
	static class TwoOnAClass {

		public void call(long id) {
		}

	}

	interface Stocks extends Target {

		@Override
		@StockLock("#id")
		String call(long id, LockHandle handle);

	}

	interface Bookings extends Target {

		@Override
		@BookingLock("#id")
		String call(long id, LockHandle handle);

	}

	static class TwoInterfaces implements Stocks, Bookings {

		@Override
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

	static class Unrelated {

		@StockLock("#id")
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

	static class Inheriting extends Unrelated implements Bookings {

	}

	interface DirectStocks extends Target {

		@Override
		@DistributedLock(name = "stock", key = "#id")
		String call(long id, LockHandle handle);

	}

	/** Composed, above one that is not. */
	static class Overriding implements DirectStocks {

		@Override
		@BookingLock("#id")
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

	interface Subinterface extends Stocks {

		@Override
		@BookingLock("#id")
		String call(long id, LockHandle handle);

	}

	static class OfTheSubinterface implements Subinterface {

		@Override
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

	static class TwiceTheSame implements Stocks, DirectStocks {

		@Override
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

	@StockLock("#id")
	static class OnClassAndMethod implements Target {

		@Override
		@BookingLock("#id")
		public String call(long id, LockHandle handle) {
			return handle.lock().toString();
		}

	}

}
