/**
 * What an operator sees of locks through Spring Boot's Actuator: the endpoint
 * {@code distributedlocks}, health and info.
 *
 * <p>
 * This package imports {@code io.holdfast.lock}, its {@code spi}, {@code support} and the
 * read model of {@code engine}. Actuator and Spring Boot's health module are optional.
 */
@NullMarked
package io.holdfast.lock.actuate;

import org.jspecify.annotations.NullMarked;
