import ATT
import AssignedNumbers
import BluetoothTypes
import HCI
import SMP

/// The texts that several parts of a story use.
package enum StoryWords {
    /// Returns a duration in microseconds, milliseconds or seconds.
    package static func time(_ microseconds: Int64) -> String {
        TextOctets.string { $0.append(microseconds: microseconds) }
    }

    /// Returns a rate in octets or thousands of octets a second.
    package static func rate(_ octetsPerSecond: Double) -> String {
        let octets = Int64(octetsPerSecond.rounded())
        return octetsPerSecond >= 1_000 ? TextOctets.string { $0.append(octets, per: 1_000, " kB/s") } : "\(octets) B/s"
    }

    /// Returns a handle in hexadecimal.
    static func handle(_ number: UInt16) -> String { "0x" + BluetoothUUID(number).description }

    static func count(_ number: Int, _ noun: String) -> String { number == 1 ? "1 \(noun)" : "\(number) \(noun)s" }

    static func parameters(_ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) -> String {
        let interval = time(Int64(interval) * 1_250)
        return "interval \(interval), latency \(latency), supervision timeout \(time(Int64(timeout) * 10_000))"
    }

    static func phy(_ number: UInt8) -> String {
        switch number {
        case 1: "1M"
        case 2: "2M"
        case 3: "Coded"
        default: "PHY \(number)"
        }
    }

    /// Returns the section that defines an error code of the controller. In Core Vol 1 Part F the number of the section
    /// is the error code, up to the first code that is reserved.
    static func section(of status: UInt8) -> String {
        (0x01...0x2A).contains(status) ? "Core Vol 1 Part F 2.\(status)" : "Core Vol 1 Part F 2"
    }

    /// Returns the section that defines an error code of ATT.
    static func section(ofAttributeError code: UInt8) -> String {
        code >= 0xE0 ? "Core Specification Supplement Part B 1.2" : "Core Vol 3 Part F 3.4.1.1"
    }

    static func attributeError(_ code: UInt8) -> String {
        (0x80...0x9F).contains(code)
            ? "application error 0x\(hexadecimal([code]))" : ATTErrorCode(rawValue: code).description
    }

    static func pairingFailure(_ code: UInt8) -> String { "\(PairingFailure(rawValue: code))" }

    /// Returns the reason why a channel is refused (Core Vol 3 Part A 4.23).
    static func channelResult(_ number: UInt16) -> String {
        switch number {
        case 0x0002: "it has no such PSM"
        case 0x0004: "no resources are available"
        case 0x0005: "insufficient authentication"
        case 0x0006: "insufficient authorization"
        case 0x0007: "the key is too short"
        case 0x0008: "insufficient encryption"
        case 0x0009: "the identifier of the channel is invalid"
        case 0x000A: "the identifier of the channel is in use"
        case 0x000B: "the parameters are unacceptable"
        default: "result \(handle(number))"
        }
    }

    static let pairingFailedSection = "Core Vol 3 Part H 3.5.5"

    static func method(_ model: AssociationModel) -> String {
        switch model {
        case .justWorks: "Just Works, without MITM protection"
        case .numericComparison: "numeric comparison"
        case .passkey(.initiatorShows): "passkey entry, shown by the central"
        case .passkey(.responderShows): "passkey entry, shown by the peripheral"
        case .passkey(.bothTake): "passkey entry on both devices"
        case .outOfBand: "out-of-band data"
        }
    }
}

extension String {
    /// Returns the text as one line of up to `limit` scalars, as `oneLine(_:)` does. Most texts of a story are one line
    /// of ASCII already, which takes no look at the properties of its characters.
    func shortLine(_ limit: Int) -> String {
        var (count, isBlank) = (0, true)
        for octet in utf8 {
            guard octet != 0x20 || !isBlank, (0x20...0x7E).contains(octet) else { return oneLine(limit) }
            isBlank = octet == 0x20
            guard count < limit || isBlank else {
                return "\(String(decoding: utf8.prefix(limit), as: UTF8.self))\u{2026}"
            }
            count += 1
        }
        return isBlank ? oneLine(limit) : self
    }
}

extension PacketBuffer {
    /// The little-endian number of two octets at an index; nil if the buffer ends before.
    package func word(at index: Int) -> UInt16? {
        guard index >= 0, count >= index + 2 else { return nil }
        return UInt16(self[index]) | UInt16(self[index + 1]) << 8
    }

    /// The octet at an index; nil if the buffer ends before.
    package func octet(at index: Int) -> UInt8? { index >= 0 && index < count ? self[index] : nil }

    /// The six octets of an address at an index; nil if the buffer ends before.
    func address(at index: Int, isRandom: Bool) -> BluetoothAddress? {
        guard index >= 0, count >= index + 6 else { return nil }
        let value = (0..<6).reduce(UInt64(0)) { $0 | UInt64(self[index + $1]) << (8 * UInt64($1)) }
        return BluetoothAddress(value, kind: isRandom ? .randomDevice : .publicDevice)
    }
}

extension StoryWords {
    static func controller(_ version: UInt8, _ company: UInt16) -> String {
        let core = AssignedNumbers.coreVersion(version).map { "Bluetooth \($0)" } ?? "version \(version)"
        return "\(core), \(AssignedNumbers.companyTitle(company))"
    }
}
