/**
 * The answer of web applications to a call that fails because of its lock: RFC 9457
 * problems for Spring MVC and Spring WebFlux.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock} and {@code support}. Spring MVC and
 * Spring WebFlux are optional.
 *
 * <p>
 * The types of this package are internal: they are public for the auto-configuration, and
 * may change in any release. Applications set {@code distributed-lock.web} instead.
 */
@NullMarked
package io.holdfast.lock.web;

import org.jspecify.annotations.NullMarked;
