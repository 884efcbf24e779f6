package io.holdfast.lock.interceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;

/**
 * Resolves the beans that key expressions may reference.
 */
final class KeyBeans extends BeanFactoryResolver {

	private final ConfigurableBeanFactory beanFactory;

	KeyBeans(ConfigurableBeanFactory beanFactory) {
		super(beanFactory);
		this.beanFactory = beanFactory;
	}

	boolean contains(String name) {
		return this.beanFactory.containsBean(name);
	}

	@Nullable ClassLoader classLoader() {
		return this.beanFactory.getBeanClassLoader();
	}

}
