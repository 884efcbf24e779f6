package io.holdfast.lock.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches unless locks, or the part of Holdfast that a further setting controls, are
 * disabled. The values are those of every other boolean setting, such as {@code yes}. Any
 * other text stops the startup: a typo must not disable locks in silence.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnLocksEnabledCondition.class)
@interface ConditionalOnLocksEnabled {

	/**
	 * The name of the further setting without the prefix, or an empty string for none.
	 */
	String value() default "";

	/**
	 * Whether the further setting is true if it is not set.
	 */
	boolean matchIfMissing() default true;

}
