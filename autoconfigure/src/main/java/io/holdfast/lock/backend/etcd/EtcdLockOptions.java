package io.holdfast.lock.backend.etcd;

import java.time.Duration;

/**
 * Options for locks in etcd.
 *
 * @param namespace distinguishes the locks of this application from those of others
 * @param responseTimeout the longest wait for a response
 */
public record EtcdLockOptions(String namespace, Duration responseTimeout) {

}
