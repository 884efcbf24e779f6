package io.holdfast.lock.interceptor;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;

/**
 * Resolves the beans that key expressions may reference.
 */
final class KeyBeans extends BeanFactoryResolver {

	private final BeanFactory beanFactory;

	KeyBeans(BeanFactory beanFactory) {
		super(beanFactory);
		this.beanFactory = beanFactory;
	}

	boolean contains(String name) {
		return this.beanFactory.containsBean(name);
	}

}
