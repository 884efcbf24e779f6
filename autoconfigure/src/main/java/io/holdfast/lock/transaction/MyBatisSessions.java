package io.holdfast.lock.transaction;

import org.mybatis.spring.SqlSessionHolder;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The sessions of MyBatis that are bound to the current transaction. Each answers a query
 * that it has seen before from memory. Needs mybatis-spring.
 */
final class MyBatisSessions {

	private MyBatisSessions() {
	}

	/** Have the next query of each ask the database. */
	static void forgetAnswers() {
		TransactionSynchronizationManager.getResourceMap().values().forEach((resource) -> {
			if (resource instanceof SqlSessionHolder holder) {
				holder.getSqlSession().clearCache();
			}
		});
	}

}
