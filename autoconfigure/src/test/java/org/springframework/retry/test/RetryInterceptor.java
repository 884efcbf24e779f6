package org.springframework.retry.test;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * Stands for the advice of Spring Retry: it repeats a call that has failed.
 */
public class RetryInterceptor implements MethodInterceptor {

	@Override
	public Object invoke(MethodInvocation invocation) throws Throwable {
		try {
			return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
		}
		catch (IllegalStateException ex) {
			return invocation.proceed();
		}
	}

}
