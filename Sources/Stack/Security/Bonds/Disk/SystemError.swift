#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An error number of the operating system.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    package var description: String { String(cString: strerror(code)) }

    static let notThere = SystemError(ENOENT)
    static let exists = SystemError(EEXIST)
    /// The path is a symbolic link, which was not followed.
    static let isLink = SystemError(ELOOP)

    /// Calls `body`, which returns a negative number on failure, and repeats it when it is interrupted by a signal.
    static func check<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw SystemError(code) }
        }
    }
}
