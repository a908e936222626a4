/// The address of a controller, as written on a command line or in `HARALD_CONTROLLER`.
package enum ControllerAddress: Hashable, Sendable, CustomStringConvertible {
    /// H4 over TCP: `tcp:HOST:PORT`.
    case tcp(host: String, port: Int)
    /// H4 over a Unix socket: `unix:PATH`.
    case unix(path: String)
    /// H4 over the standard input and output: `-`.
    case standard
    /// A serial port: `serial:PATH[,BAUD][,h5]`.
    case serial(SerialOptions)
    /// A kernel adapter through its user channel: `hci0` and the other forms of ``AdapterChoice``.
    case adapter(AdapterChoice)
    /// A USB controller without the kernel's driver: `usb` and the other forms of ``USBChoice``.
    case usb(USBChoice)
    /// A capture file, which is played back: `capture:PATH`.
    case capture(path: String)

    /// The reason why a text is not a controller address.
    package enum ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        /// None of the known forms.
        case unknownForm(String)
        /// A form that this version does not support.
        case notAvailable(String)
        /// The port is not a number from 1 to 65535.
        case port(String)
        /// The text after `usb:` does not identify a controller.
        case usb(String)
        /// The serial port's path, rate or protocol is invalid.
        case serial(String)

        /// One sentence for the user.
        package var description: String {
            switch self {
            case .unknownForm(let text):
                """
                "\(text)" is not a controller address; use hci0 for an adapter of this machine, \
                usb for a USB controller without the kernel's driver, serial:PATH, tcp:HOST:PORT, unix:PATH or capture:FILE
                """
            case .notAvailable(let text):
                """
                controllers such as "\(text)" are not supported yet; use hci0 for a controller with a kernel driver, or tcp:HOST:PORT \
                for H4 over TCP
                """
            case .usb(let text):
                """
                "\(text)" is not a USB controller; use usb for the first one, usb:0 by position, usb:1209:0b1e by vendor and product as \
                lsusb shows them, or usb:1-2.3 by the place where it is plugged in
                """
            case .serial(let text):
                """
                "\(text)" is not a serial port; use serial:PATH,BAUD with a rate such as 115200 or 1000000, followed by ,h5 for the \
                three-wire protocol; without a rate, the rate is detected
                """
            case .port(let text):
                "\"\(text)\" is not a port number; use 1 to 65535, as in tcp:127.0.0.1:6402"
            }
        }
    }

    /// Parses an address.
    ///
    /// - Throws: ``ParseError``, whose description tells the user what to write.
    package init(_ text: String) throws(ParseError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts.first.map(String.init) ?? "" {
        case "tcp":
            // The host may be an IPv6 address, so the port follows the last colon.
            guard parts.count == 2, let colon = parts[1].lastIndex(of: ":"), colon > parts[1].startIndex else {
                throw .unknownForm(text)
            }
            let portText = String(parts[1][parts[1].index(after: colon)...])
            guard let port = Int(portText), (1...65_535).contains(port) else { throw .port(portText) }
            let host = parts[1][..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            self = .tcp(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
        case "unix":
            guard parts.count == 2, !parts[1].isEmpty else { throw .unknownForm(text) }
            self = .unix(path: String(parts[1]))
        case "capture":
            guard parts.count == 2, !parts[1].isEmpty else { throw .unknownForm(text) }
            self = .capture(path: String(parts[1]))
        case "-" where parts.count == 1: self = .standard
        case "serial":
            guard parts.count == 2, let options = SerialOptions(parts[1]) else { throw .serial(text) }
            self = .serial(options)
        case "usb":
            guard let choice = USBChoice(text) else { throw .usb(text) }
            self = .usb(choice)
        case "virtual":
            throw .notAvailable(text)
        default:
            guard let choice = AdapterChoice(text) else { throw .unknownForm(text) }
            self = .adapter(choice)
        }
    }

    /// The address in the form that ``init(_:)`` parses.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .standard: "-"
        case .capture(let path): "capture:\(path)"
        case .serial(let options): "serial:\(options)"
        case .adapter(let choice): choice.description
        case .usb(let choice): choice.description
        }
    }
}
