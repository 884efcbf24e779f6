/**
 * Real servers for tests: each is a process of this machine on a free loopback port, with
 * a directory of its own, that can be stopped, killed, paused and restarted.
 *
 * <p>
 * This room knows nothing of locks. A server that is not installed fails the test with
 * the name of its Debian package; it never skips it.
 */
@NullMarked
package io.holdfast.lock.test.server;

import org.jspecify.annotations.NullMarked;
