#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Identifies a thread, to check whether a caller is on a loop's thread.
package struct ThreadIdentity: Hashable, Sendable {
    /// The thread's address, so never 0.
    let number: UInt

    package static var current: ThreadIdentity {
        #if canImport(Glibc)
            ThreadIdentity(number: UInt(pthread_self()))
        #else
            ThreadIdentity(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}
