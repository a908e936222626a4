import Foundation
import HCI

/// A serial port of this machine in raw mode: eight data bits, no parity, one stop bit (Core Vol 4 Part A 3, Part D 7).
package struct SerialPort: Sendable {
    /// The reason why a port cannot be used.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        case notOpened(path: String, code: Int32)
        case notAPort(path: String)
        case inUse(path: String)
        case rate(Int, path: String)

        /// One sentence for the user, with what to do.
        package var description: String {
            switch self {
            case .notOpened(let path, ENOENT):
                "\(path) does not exist; is the device plugged in? `ls /dev/tty*` lists the ports"
            case .notOpened(let path, EACCES):
                "this user may not open \(path); join its group, which `ls -l \(path)` shows"
            case .notOpened(let path, let code): "\(path) cannot be opened: \(String(cString: strerror(code)))"
            case .notAPort(let path): "\(path) is not a serial port"
            case .inUse(let path):
                "\(path) is in use by another program; stop it (`fuser \(path)` shows which), or detach the kernel's driver by stopping `btattach`"
            case .rate(let rate, let path): "\(path) does not support \(rate) bits per second; choose another rate"
            }
        }
    }

    /// The descriptor of the open port. This value does not close it.
    package let descriptor: Int32
    private let path: String

    /// Opens a port for exclusive use.
    ///
    /// - Parameter hasFlowControl: Whether to use RTS/CTS flow control. H4 needs it, the three-wire protocol does not.
    package init(path: String, hasFlowControl: Bool) throws(Failure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .notOpened(path: path, code: errno) }
        do throws(Failure) {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: path) }
            var settings = termios()
            guard tcgetattr(descriptor, &settings) == 0 else { throw .notAPort(path: path) }
            cfmakeraw(&settings)
            settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
            settings.c_cflag &= ~tcflag_t(CSTOPB)
            // A pseudoterminal has no such wires, and ignores the flag.
            let wires = tcflag_t(truncatingIfNeeded: 0o20_000_000_000)
            if hasFlowControl { settings.c_cflag |= wires } else { settings.c_cflag &= ~wires }
            guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else { throw .notAPort(path: path) }
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Sets the rate for both directions, and discards pending data, because it was received at the previous rate.
    package func set(rate: Int) throws(Failure) {
        var settings = termios()
        guard let speed = Self.speeds[rate], tcgetattr(descriptor, &settings) == 0, cfsetspeed(&settings, speed) == 0,
            tcsetattr(descriptor, TCSANOW, &settings) == 0
        else { throw .rate(rate, path: path) }
        tcflush(descriptor, TCIOFLUSH)
    }

    private static let speeds: [Int: speed_t] = [
        9_600: speed_t(B9600), 19_200: speed_t(B19200), 38_400: speed_t(B38400), 57_600: speed_t(B57600),
        115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800), 500_000: speed_t(B500000),
        576_000: speed_t(B576000), 921_600: speed_t(B921600), 1_000_000: speed_t(B1000000),
        1_152_000: speed_t(B1152000), 1_500_000: speed_t(B1500000), 2_000_000: speed_t(B2000000),
        2_500_000: speed_t(B2500000), 3_000_000: speed_t(B3000000), 3_500_000: speed_t(B3500000),
        4_000_000: speed_t(B4000000),
    ]
}
