package io.holdfast.lock.transaction;

import org.mybatis.spring.SqlSessionHolder;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The MyBatis sessions that are bound to the current transaction. Each session answers a
 * repeated query from memory. Requires mybatis-spring.
 */
final class MyBatisSessions {

	private MyBatisSessions() {
	}

	/** Clears the cache of each session, so that its next query reads the database. */
	static void forgetAnswers() {
		TransactionSynchronizationManager.getResourceMap().values().forEach((resource) -> {
			if (resource instanceof SqlSessionHolder holder) {
				holder.getSqlSession().clearCache();
			}
		});
	}

}
