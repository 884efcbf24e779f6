package io.holdfast.lock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Leaves one method out of its class's {@link DistributedLock}. For methods that do not
 * touch what the lock protects, and for those that no proxy can intercept, such as final
 * ones.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Unlocked {

}
