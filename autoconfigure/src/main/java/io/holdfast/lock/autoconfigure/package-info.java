/**
 * Wires Holdfast into a Spring Boot application: properties, conditions, failure
 * analyzers.
 *
 * <p>
 * This room may import every other; nobody imports it.
 */
@NullMarked
package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.NullMarked;
