import BluetoothTypes

/// A command, described once: ``PacketFields/code(_:)`` names its parameters in wire order.
package protocol HCICommand: PacketFields, Hashable, Sendable {
    /// What the Command Complete event returns. Commands that are answered by Command Status have ``StatusOnly``.
    associatedtype Response: HCIResponse = StatusOnly

    /// The command's number.
    static var opcode: Opcode { get }
    /// The command's name in the specification, without the `HCI_` in front.
    static var name: String { get }
    /// Whether Command Status answers it, and an event of its own follows (Core Vol 4 Part E 4.4).
    static var isAnsweredByStatus: Bool { get }
    /// Whether nothing answers it, unless it is wrong. It then neither waits for other commands nor lets them wait.
    static var isUnanswered: Bool { get }
    /// Where a controller tells that it knows the command; nil for the one command that asks for these bits.
    static var supportBit: SupportedCommands.Bit? { get }
}

extension HCICommand {
    /// Most commands are answered by Command Complete.
    package static var isAnsweredByStatus: Bool { false }
    /// Something answers nearly every command.
    package static var isUnanswered: Bool { false }
}

/// The return parameters of a command. The first is a status in every command of this stack.
package protocol HCIResponse: PacketFields, Hashable, Sendable {
    /// Whether and why the command failed. With an error a controller may leave out all that follows.
    var status: HCIStatus { get set }
}

extension HCIResponse {
    /// A response that says why the command failed, all else zero.
    @inlinable
    package init(failure status: HCIStatus) {
        self.init()
        self.status = status
    }

    /// Reads return parameters. Octets behind them are left alone: a newer controller may know more of them. A failed
    /// command may come with its status alone.
    ///
    /// - Throws: ``PacketError`` when octets are missing or wrong.
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

/// Return parameters that are a status and nothing else.
package struct StatusOnly: HCIResponse {
    package var status = HCIStatus.success

    /// Success.
    package init() {}

    /// The given status.
    package init(_ status: HCIStatus) { self.status = status }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
    }
}

/// Return parameters that are a status and the connection that the command was about.
package struct StatusAndHandle: HCIResponse {
    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)

    /// Success for connection 0.
    package init() {}

    /// The given status for a connection.
    package init(_ status: HCIStatus, handle: ConnectionHandle) {
        self.status = status
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
    }
}
