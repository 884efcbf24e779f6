/**
 * The answer of web applications to a call that fails because of its lock: RFC 9457
 * problems for Spring MVC and Spring WebFlux.
 *
 * <p>
 * This package imports only {@code io.holdfast.lock} and {@code support}. Spring MVC and
 * Spring WebFlux are optional.
 */
@NullMarked
package io.holdfast.lock.web;

import org.jspecify.annotations.NullMarked;
