import BluetoothTypes

/// An HCI command. ``PacketFields/code(_:)`` codes its parameters in wire order.
///
/// In commands and events `set` is an advertising handle, 0x00 to 0xEF, and `sync` a sync handle, 0x0000 to 0x0EFF.
package protocol HCICommand: PacketFields, Hashable, Sendable {
    /// The return parameters in Command Complete; ``StatusOnly`` for commands that Command Status answers.
    associatedtype Response: HCIResponse = StatusOnly

    /// What the specification says about the command, apart from its parameters.
    static var entry: CommandEntry { get }
}

/// A command without parameters.
package protocol ParameterlessCommand: HCICommand {}

extension ParameterlessCommand {
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// A command about one connection, without further parameters.
package protocol LinkCommand: HCICommand {
    var handle: ConnectionHandle { get set }
}

extension LinkCommand {
    package init(handle: ConnectionHandle) {
        self.init()
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

/// A command without parameters that returns a status and one number.
package protocol ValueCommand: ParameterlessCommand where Response == StatusAndValue<Self> {
    associatedtype Value: FixedWidthInteger & Sendable
    /// The name of the number in the specification.
    static var valueName: String { get }
}

/// What the specification says about a command, apart from its parameters.
package struct CommandEntry: Sendable {
    /// How a controller answers (Core Vol 4 Part E 4.4).
    package enum Answer: Sendable {
        /// With Command Complete, which carries the return parameters.
        case complete
        /// With Command Status. A separate event reports the outcome.
        case status
        /// With Command Complete, and only if there is an error. Such a command bypasses the command queue.
        case errorsOnly
    }

    @usableFromInline let opcode: Opcode
    fileprivate let name: String
    fileprivate let answer: Answer
    fileprivate let supportBit: SupportedCommands.Bit?

    /// Creates the entry of a command.
    ///
    /// - Parameters:
    ///   - group: The group (OGF).
    ///   - command: The number within the group (OCF).
    ///   - name: The name in the specification, without the prefix `HCI_`.
    ///   - bit: The octet and the bit that stand for the command in the supported commands; nil for vendor-specific
    ///     commands and for the command that reads these bits.
    ///   - answer: How a controller answers.
    package init(
        _ group: Opcode.Group,
        _ command: UInt16,
        _ name: String,
        bit: (Int, Int)?,
        _ answer: Answer = .complete
    ) {
        (opcode, self.name, self.answer) = (Opcode(group: group, command: command), name, answer)
        supportBit = bit.map { SupportedCommands.Bit(octet: $0, bit: $1) }
    }
}

extension HCICommand {
    /// The opcode: the group (OGF) and the command within it (OCF).
    @inlinable
    package static var opcode: Opcode { entry.opcode }
    /// The name in the specification, without the prefix `HCI_`.
    package static var name: String { entry.name }
    /// Whether Command Status answers the command, and a separate event reports its outcome (Core Vol 4 Part E 4.4).
    package static var isAnsweredByStatus: Bool { entry.answer == .status }
    /// Whether the command is answered only on error. Such a command bypasses the command queue.
    package static var isUnanswered: Bool { entry.answer == .errorsOnly }
    /// The bit of the supported commands that stands for the command; nil if there is none.
    package static var supportBit: SupportedCommands.Bit? { entry.supportBit }
}

extension HCIPacket {
    /// Frames a command.
    ///
    /// - Precondition: The parameters fit 255 octets.
    @inlinable
    package init(_ command: some HCICommand) {
        var bytes = command.encoded()
        precondition(bytes.count <= 255, "\(type(of: command).name) with \(bytes.count) octets of parameters")
        bytes.prepend(UInt8(truncatingIfNeeded: bytes.count))
        bytes.prepend(integer: type(of: command).opcode.rawValue)
        self.init(.command, bytes)
    }
}

/// The return parameters of a command. They start with a status in all commands of this module.
package protocol HCIResponse: PacketFields, Hashable, Sendable {
    /// The status. If it is an error, a controller may omit all other parameters.
    var status: HCIStatus { get set }
}

extension HCIResponse {
    /// Creates the response of a failed command, with all other parameters at zero.
    @inlinable
    package init(failure status: HCIStatus) {
        self.init()
        self.status = status
    }

    /// Parses return parameters. Trailing octets are ignored, because a newer controller may add parameters. The status
    /// alone is sufficient if the command failed.
    ///
    /// - Throws: ``PacketError`` if the parameters are truncated or malformed.
    @inlinable
    package static func reading(_ parameters: PacketBuffer) throws(PacketError) -> Self {
        var response = Self()
        var reader = FieldReader(parameters)
        do throws(PacketError) {
            try response.read(from: &reader)
            return response
        } catch {
            guard let status = parameters.first, status != 0 else { throw error }
            return Self(failure: HCIStatus(rawValue: status))
        }
    }
}

/// Return parameters that consist of a status.
package struct StatusOnly: HCIResponse {
    package var status = HCIStatus.success

    package init() {}
    package init(_ status: HCIStatus) { self.status = status }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
    }
}

/// Return parameters that consist of a status and a connection handle.
package struct StatusAndHandle: HCIResponse {
    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
    package init(_ status: HCIStatus, handle: ConnectionHandle) { (self.status, self.handle) = (status, handle) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
    }
}

/// Return parameters that consist of a status and the number for which the command asks.
package struct StatusAndValue<Command: ValueCommand>: HCIResponse {
    package var status = HCIStatus.success
    package var value: Command.Value = 0

    package init() {}
    package init(_ value: Command.Value) { self.value = value }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field(Command.valueName, &value)
    }
}

/// Return parameters that end in a bitmap of capabilities. Some controllers omit trailing octets of it (quirk 12);
/// omitted bits count as 0.
package protocol BitmapResponse: HCIResponse {}

extension ReadLocalSupportedCommands.Response: BitmapResponse {}
extension ReadLocalSupportedFeatures.Response: BitmapResponse {}
extension LEReadLocalSupportedFeatures.Response: BitmapResponse {}

extension PacketBuffer {
    /// The octets followed by zeros, more than any return parameters have.
    package var withZerosBehind: PacketBuffer { PacketBuffer(bytes + [UInt8](repeating: 0, count: 255)) }
}
