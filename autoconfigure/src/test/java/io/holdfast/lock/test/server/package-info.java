/**
 * Real servers for tests. Each is a process on this machine with its own directory and a
 * free loopback port, and can be stopped, killed, paused, and restarted.
 *
 * <p>
 * This package does not depend on locks, except that {@code ServerFaults} implements the
 * faults of the contract. If a server is not installed, the test fails with the name of
 * its Debian package. It is never skipped.
 */
@NullMarked
package io.holdfast.lock.test.server;

import org.jspecify.annotations.NullMarked;
