package io.holdfast.lock.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if a store is configured, by the rule of {@link LockStore}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnLockStoreCondition.class)
@interface ConditionalOnLockStore {

	/**
	 * The store.
	 */
	LockStore value();

}
