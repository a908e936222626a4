#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the operating system refused, by its number.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in `errno`.
    package var code: Int32

    /// The given number.
    package init(_ code: Int32) { self.code = code }

    /// What it says about it.
    package var description: String { String(cString: strerror(code)) }

    /// There is no such file.
    static let notThere = SystemError(ENOENT)
    /// There is one already.
    static let exists = SystemError(EEXIST)
    /// A symbolic link was not followed.
    static let isLink = SystemError(ELOOP)

    /// Calls `body` until no signal comes in between; it fails by returning -1.
    static func check(_ body: () -> Int32) throws(SystemError) -> Int32 {
        Int32(truncatingIfNeeded: try check { Int(body()) })
    }

    /// The same for functions that count octets.
    static func check(_ body: () -> Int) throws(SystemError) -> Int {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw SystemError(code) }
        }
    }
}
