import Foundation

/// A pseudoterminal (pty(7)): this process has one side, and other programs open the other side by its path, as a
/// serial port.
package final class PseudoTerminal: Sendable {
    private let own: Int32
    /// The side for others. Kept open, because the kernel hangs up a terminal that no process has open.
    private let other: Int32
    /// The path of the side for others.
    package let path: String

    /// Creates a pseudoterminal. Returns nil if the system has no more.
    package init?() {
        var (own, other): (Int32, Int32) = (-1, -1)
        guard openpty(&own, &other, nil, nil, nil) == 0 else { return nil }
        for descriptor in [own, other] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        (self.own, self.other) = (own, other)
        // Raw mode, so that octets pass unchanged before another program configures the port.
        var settings = termios()
        if tcgetattr(other, &settings) == 0 {
            cfmakeraw(&settings)
            tcsetattr(other, TCSANOW, &settings)
        }
        // ttyname(3) uses one static buffer for all threads.
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

    /// Returns a new descriptor of this process's side, which the caller closes.
    package func take() -> Int32 {
        let descriptor = dup(own)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
