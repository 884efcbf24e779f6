/**
 * Auto-configuration of Holdfast in a Spring Boot application: properties, conditions and
 * failure analyzers.
 *
 * <p>
 * This package may import every other package; no other package imports it.
 *
 * <p>
 * This package is internal: its types may change in any release.
 */
@NullMarked
package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.NullMarked;
