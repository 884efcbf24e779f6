/**
 * The contract of {@code LockBackend} as tests, which every backend must pass, including
 * custom ones. Published in the {@code tests} jar. The entry point is
 * {@code LockBackendContract}.
 *
 * <p>
 * Each {@code …Cases} interface contains the cases of one topic. This package depends on
 * the API and the SPI, and on no store.
 */
@NullMarked
package io.holdfast.lock.test.contract;

import org.jspecify.annotations.NullMarked;
