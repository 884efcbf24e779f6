package io.holdfast.lock.interceptor;

import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;

/**
 * Resolves the beans that key expressions may reference.
 */
final class KeyBeans extends BeanFactoryResolver {

	private final ConfigurableBeanFactory beanFactory;

	KeyBeans(ConfigurableBeanFactory beanFactory) {
		super(beanFactory);
		this.beanFactory = beanFactory;
	}

	/** Returns the names of the beans that an expression refers to. */
	static Stream<String> names(SpelNode node) {
		return (node instanceof BeanReference) ? Stream.of(node.toStringAST().replaceAll("^@|'", ""))
				: IntStream.range(0, node.getChildCount()).mapToObj(node::getChild).flatMap(KeyBeans::names);
	}

	boolean contains(String name) {
		return this.beanFactory.containsBean(name);
	}

	@Nullable ClassLoader classLoader() {
		return this.beanFactory.getBeanClassLoader();
	}

}
