#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which thread this is, to tell whether a caller is on a loop's thread.
package struct ThreadIdentity: Hashable, Sendable {
    /// Not 0: it is an address.
    let number: UInt

    /// The calling thread.
    package static var current: ThreadIdentity {
        #if canImport(Glibc)
            ThreadIdentity(number: UInt(pthread_self()))
        #else
            ThreadIdentity(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}
