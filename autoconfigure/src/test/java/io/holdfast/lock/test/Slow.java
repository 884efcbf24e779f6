package io.holdfast.lock.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Marks tests that need seconds, mostly for leases that expire and servers that restart.
 * They run with {@code -P slow}, with {@code -P thorough}, and where {@code -Dtest} names
 * their class, but not with the plain test command.
 */
@Documented
@Inherited
@Tag("slow")
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface Slow {

}
