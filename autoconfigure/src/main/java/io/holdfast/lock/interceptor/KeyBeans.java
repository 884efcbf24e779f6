package io.holdfast.lock.interceptor;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;

/**
 * The beans that key expressions may name.
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
