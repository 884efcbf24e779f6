package io.holdfast.lock.backend.zookeeper;

/**
 * Options for locks in ZooKeeper.
 *
 * @param basePath the parent node of all locks, such as {@code /holdfast}
 * @param namespace distinguishes the locks of this application from those of others
 * @param whenSuspended how a check of a hold behaves while the connection is suspended
 */
public record ZooKeeperLockOptions(String basePath, String namespace, WhenSuspended whenSuspended) {

}
