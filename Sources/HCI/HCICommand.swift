import BluetoothTypes

/// A command, described once: ``PacketFields/code(_:)`` names its parameters in wire order.
public protocol HCICommand: PacketFields, Hashable, Sendable {
    /// What the Command Complete event returns. Commands that are answered by Command Status have ``StatusOnly``.
    associatedtype Response: HCIResponse = StatusOnly

    /// The command's number.
    static var opcode: Opcode { get }
    /// The command's name in the specification, without the `HCI_` in front.
    static var name: String { get }
    /// Whether Command Status answers it, and an event of its own follows (Core Vol 4 Part E 4.4).
    static var isAnsweredByStatus: Bool { get }
}

extension HCICommand {
    /// Most commands are answered by Command Complete.
    public static var isAnsweredByStatus: Bool { false }
}

/// The return parameters of a command. The first is a status in every command of this stack.
public protocol HCIResponse: PacketFields, Hashable, Sendable {
    /// Whether and why the command failed. With an error a controller may leave out all that follows.
    var status: HCIStatus { get set }
}

/// Return parameters that are a status and nothing else.
public struct StatusOnly: HCIResponse {
    /// Whether and why the command failed.
    public var status = HCIStatus.success

    /// Success.
    public init() {}

    /// The given status.
    public init(_ status: HCIStatus) { self.status = status }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
    }
}
