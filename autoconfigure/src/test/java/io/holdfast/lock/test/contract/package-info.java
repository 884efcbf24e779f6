/**
 * The contract of a store as tests: what every {@code LockBackend} must do, whoever wrote
 * it. Published in the {@code tests} jar; its entry is {@code LockBackendContract}.
 *
 * <p>
 * Each {@code …Cases} interface holds the cases of one subject. This room knows the API
 * and the SPI and nothing of any store.
 */
@NullMarked
package io.holdfast.lock.test.contract;

import org.jspecify.annotations.NullMarked;
