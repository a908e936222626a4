#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A pair of terminals: what has the one has a serial port for others in the other, which has a path (pty(7)).
package final class PseudoTerminal: Sendable {
    /// This side.
    private let own: Int32
    /// The other one stays open: a terminal that nobody has open is hung up.
    private let other: Int32
    /// Where others find the other side.
    package let path: String

    /// A new pair; nil where the system has no more.
    package init?() {
        var (own, other): (Int32, Int32) = (-1, -1)
        guard openpty(&own, &other, nil, nil, nil) == 0 else { return nil }
        for descriptor in [own, other] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        (self.own, self.other) = (own, other)
        // Octets are to be as they are before anybody has set the port.
        var settings = termios()
        if tcgetattr(other, &settings) == 0 {
            cfmakeraw(&settings)
            tcsetattr(other, TCSANOW, &settings)
        }
        // ttyname(3) has one place for all threads.
        var name = [CChar](repeating: 0, count: 128)
        guard ttyname_r(other, &name, name.count) == 0 else {
            close(own)
            close(other)
            return nil
        }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        close(own)
        close(other)
    }

    /// A descriptor of this side for somebody who closes it.
    package func take() -> Int32 {
        let descriptor = dup(own)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
