package io.holdfast.lock.transaction;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MethodTransactions}.
 */
class MethodTransactionsTests {

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private final PlatformTransactionManager orders = new DataSourceTransactionManager();

	/** Spring's own advice uses it, too, although another one is primary. */
	@Test
	void managerThatXmlNamesIsThatOfTheMethod() throws Exception {
		RootBeanDefinition primary = new RootBeanDefinition(DataSourceTransactionManager.class,
				DataSourceTransactionManager::new);
		primary.setPrimary(true);
		this.beans.registerBeanDefinition("primary", primary);
		this.beans.registerSingleton("orders", this.orders);
		TransactionInterceptor interceptor = new TransactionInterceptor();
		interceptor
			.setTransactionAttributeSource((TransactionAttributeSource) new AnnotationTransactionAttributeSource());
		interceptor.setBeanFactory(this.beans);
		// as <tx:annotation-driven transaction-manager="orders"/> does
		interceptor.setTransactionManagerBeanName("orders");
		this.beans.registerSingleton("interceptor", interceptor);
		assertThat(new MethodTransactions(this.beans).managerOf(Orders.class.getMethod("place"), Orders.class))
			.isSameAs(this.orders);
	}

	static class Orders {

		@Transactional
		public void place() {
		}

	}

}
