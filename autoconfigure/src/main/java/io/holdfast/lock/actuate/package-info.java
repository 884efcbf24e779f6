/**
 * Locks in Spring Boot's Actuator: the endpoint {@code distributedlocks}, health and
 * info.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, its {@code spi}, {@code support} and the
 * read model of {@code engine}. Actuator and Spring Boot's health module are optional.
 *
 * <p>
 * The types of this package are internal: they are public for the auto-configuration and
 * for Actuator, and may change in any release. Applications use the endpoint, or
 * {@code LockInspector} in code.
 */
@NullMarked
package io.holdfast.lock.actuate;

import org.jspecify.annotations.NullMarked;
