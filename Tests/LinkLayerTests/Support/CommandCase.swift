import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// A command, its preparation, and the status that answers it.
struct CommandCase: Sendable, CustomTestStringConvertible {
    var name: String
    var status: HCIStatus
    var packet: HCIPacket
    var prepare: @Sendable (TestHost) -> Void
    var testDescription: String { name }

    init(
        _ name: String,
        _ status: HCIStatus,
        _ command: some HCICommand,
        after prepare: @escaping @Sendable (TestHost) -> Void = { _ in }
    ) {
        self.init(name, status, packet: HCIPacket(command), after: prepare)
    }

    /// A case from raw parameter octets.
    init(
        _ name: String,
        _ status: HCIStatus,
        _ opcode: Opcode,
        _ parameters: [UInt8],
        after prepare: @escaping @Sendable (TestHost) -> Void = { _ in }
    ) {
        let number = opcode.rawValue
        let header = [UInt8(number & 0xFF), UInt8(number >> 8), UInt8(parameters.count)]
        self.init(name, status, packet: HCIPacket(.command, PacketBuffer(header + parameters)), after: prepare)
    }

    /// A case from the raw octets of the command.
    init(_ name: String, _ status: HCIStatus, raw: PacketBuffer) {
        self.init(name, status, packet: HCIPacket(.command, raw), after: { _ in })
    }

    private init(
        _ name: String,
        _ status: HCIStatus,
        packet: HCIPacket,
        after prepare: @escaping @Sendable (TestHost) -> Void
    ) {
        self.name = name
        self.status = status
        self.packet = packet
        self.prepare = prepare
    }

    static func accepted(
        _ name: String,
        _ command: some HCICommand,
        after prepare: @escaping @Sendable (TestHost) -> Void = { _ in }
    ) -> Self {
        Self(name, .success, command, after: prepare)
    }

    static func invalid(
        _ name: String,
        _ command: some HCICommand,
        after prepare: @escaping @Sendable (TestHost) -> Void = { _ in }
    ) -> Self {
        Self(name, .invalidParameters, command, after: prepare)
    }

    static func disallowed(
        _ name: String,
        _ command: some HCICommand,
        after prepare: @escaping @Sendable (TestHost) -> Void = { _ in }
    ) -> Self {
        Self(name, .commandDisallowed, command, after: prepare)
    }

    /// Runs the case on a controller of its own.
    func check() {
        let world = LinkLayerWorld()
        let host = world.host()
        prepare(host)
        let status = host.send(packet)
        #expect(status == self.status, "\(name): \(status)")
    }
}
