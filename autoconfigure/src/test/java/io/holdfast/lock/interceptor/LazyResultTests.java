package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.domain.Page;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a method does no work after its lock is released. A result type that would
 * defer work fails the startup. If the declared type does not show it, the call fails.
 */
class LazyResultTests {

	private final ApplicationContextRunner runner = LocalLocks.plainRunner();

	private final LockMethodSpecs specs = new LockMethodSpecs((text) -> text, null);

	static Stream<Method> lazy() {
		return Stream.of(Lazy.class.getDeclaredMethods()).filter((method) -> !method.isSynthetic());
	}

	static Stream<Method> complete() {
		return Stream.of(Complete.class.getDeclaredMethods()).filter((method) -> !method.isSynthetic());
	}

	@ParameterizedTest
	@MethodSource("lazy")
	void lazyResultIsRefusedAtTheStart(Method method) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.specs.get(method, Lazy.class))
			.withMessageContaining("@DistributedLock on " + Lazy.class.getName() + "." + method.getName() + "(")
			.withMessageContaining("without the lock");
	}

	@ParameterizedTest
	@MethodSource("complete")
	void completeResultIsNot(Method method) {
		assertThat(this.specs.get(method, Complete.class)).isNotNull();
	}

	@Test
	void suspendFunctionIsRefusedWithBeanMethodAndRemedy() {
		this.runner.withBean("orders", Suspending.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("Suspending.place(long, Continuation): it is a suspend function")
				.hasMessageContaining("future { ... }");
			assertThat(context.getStartupFailure()).hasStackTraceContaining("Bean 'orders': @DistributedLock on ");
		});
	}

	/** Its value is the bean, so the method cannot return what the function does. */
	@Test
	void functionThatIsABeanIsRefusedWithItsOwnRemedy() {
		this.runner.withUserConfiguration(FunctionBean.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("FunctionBean.orders(): it returns Supplier")
				.hasMessageContaining("Lock the method of a class that implements it")
				.message()
				.doesNotContain("Return the value itself");
		});
	}

	@Test
	void genericResultIsResolvedInTheConcreteClass() throws Exception {
		Method method = Generic.class.getMethod("get");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.specs.get(method, OfStreams.class))
			.withMessageContaining("returns Stream");
		assertThat(this.specs.get(method, OfTexts.class)).isNotNull();
	}

	@Test
	void resultThatTurnsOutToBeLazyFailsTheCallAndIsClosed() {
		this.runner.withBean(Undeclared.class).run((context) -> {
			Undeclared bean = context.getBean(Undeclared.class);
			AtomicBoolean closed = new AtomicBoolean();
			Stream<Integer> stream = Stream.of(1).onClose(() -> closed.set(true));
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.call(stream))
				.withMessageContaining("Undeclared.call(Object): it returned an object of java.util.stream.")
				.withMessageContaining("Return the value itself");
			assertThat(closed).isTrue();
			CompletableFuture<String> future = new CompletableFuture<>();
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.call(future));
			assertThat(future).isCancelled();
			Supplier<String> supplier = () -> "later";
			for (Object result : List.of(supplier, Mono.empty(), Optional.of(supplier), List.of().iterator())) {
				assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.call(result));
			}
			assertThat(bean.call("text")).isEqualTo("text");
			assertThat(bean.call(List.of(1))).isEqualTo(List.of(1));
			assertThat(bean.call(Page.empty())).isEqualTo(Page.empty());
			assertThat(LockContext.handles()).isEmpty();
		});
	}

	@Configuration
	static class FunctionBean {

		@Bean
		@DistributedLock("stock")
		Supplier<String> orders() {
			return () -> "later";
		}

	}

	/**
	 * Methods whose results defer their work.
	 */
	@DistributedLock("stock")
	abstract static class Lazy {

		public abstract Callable<String> callable();

		public abstract Supplier<String> supplier();

		public abstract Runnable runnable();

		public abstract Stream<String> stream();

		public abstract IntStream numbers();

		public abstract Iterator<String> iterator();

		public abstract DeferredResult<String> deferred();

		public abstract WebAsyncTask<String> task();

		public abstract StreamingResponseBody body();

		public abstract ResponseEntity<StreamingResponseBody> entity();

		public abstract ResponseBodyEmitter emitter();

		public abstract SseEmitter events();

		public abstract Publisher<String> publisher();

		public abstract Flow.Publisher<String> flowPublisher();

		public abstract Mono<String> mono();

		public abstract Flux<String> flux();

		public abstract kotlinx.coroutines.flow.Flow<String> kotlinFlow();

		public abstract kotlinx.coroutines.Deferred<String> kotlinDeferred();

		public abstract kotlin.sequences.Sequence<String> sequence();

		public abstract kotlin.Lazy<String> kotlinLazy();

		public abstract kotlinx.coroutines.channels.ReceiveChannel<String> channel();

		/** As Kotlin compiles {@code suspend () -> String}. */
		public abstract kotlin.jvm.functions.Function1<Continuation<? super String>, Object> suspendFunction();

		public abstract Optional<kotlin.jvm.functions.Function1<Continuation<? super String>, Object>> optionalSuspend();

		/** As Kotlin compiles {@code List<suspend (String) -> Unit>}. */
		public abstract List<kotlin.jvm.functions.Function2<String, Continuation<? super kotlin.Unit>, Object>> suspends();

		public abstract Optional<Stream<String>> optional();

		public abstract CompletableFuture<Stream<String>> later();

		public abstract List<CompletableFuture<String>> futures();

		public abstract Map<String, List<CompletableFuture<String>>> futuresByName();

		public abstract CompletableFuture<String>[] futureArray();

		public abstract Optional<CompletableFuture<String>> optionalFuture();

		public abstract CompletableFuture<CompletableFuture<String>> futureOfAFuture();

		public abstract Object suspending(long id, Continuation<? super String> continuation);

	}

	/**
	 * Methods whose results are complete on return, or keep the lock until they are.
	 */
	@DistributedLock("stock")
	abstract static class Complete {

		public abstract void nothing();

		public abstract Object object();

		public abstract List<String> list();

		public abstract Iterable<String> iterable();

		public abstract List<Runnable> functions();

		public abstract kotlin.jvm.functions.Function1<String, Object> functionOfAnArgument();

		public abstract Path iterableOfItself();

		public abstract Page<String> page();

		public abstract Optional<String> optional();

		public abstract CompletableFuture<String> future();

		public abstract ResponseEntity<String> entity();

		public abstract Price price();

	}

	/**
	 * A value class that also implements a functional interface.
	 */
	static class Price implements Supplier<String> {

		@Override
		public String get() {
			return "1.00";
		}

	}

	static class Suspending {

		@DistributedLock("stock")
		public Object place(long id, Continuation<? super String> continuation) {
			return "";
		}

	}

	abstract static class Generic<T> {

		@DistributedLock("stock")
		public abstract T get();

	}

	abstract static class OfStreams extends Generic<Stream<String>> {

	}

	abstract static class OfTexts extends Generic<String> {

	}

	static class Undeclared {

		@DistributedLock("stock")
		public Object call(Object result) {
			return result;
		}

	}

}
