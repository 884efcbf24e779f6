package io.holdfast.lock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Excludes one method from the {@link DistributedLock} of its class. Use it for methods
 * that do not access the data that the lock protects, and for methods that no proxy can
 * intercept, such as final ones.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Unlocked {

}
