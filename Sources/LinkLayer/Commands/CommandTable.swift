import BluetoothTypes
import HCI

/// The commands that the controller knows, each with what it does. What is not in here is unknown to the host as well:
/// the supported commands follow from this table.
struct CommandTable {
    private typealias Handler = @Sendable (VirtualController, PacketBuffer) -> HCIPacket?

    static let shared = CommandTable()

    /// Num_HCI_Command_Packets: each command is carried out before the next is read.
    static let credits: UInt8 = 1

    /// Commands whose parameters have octets that do not count.
    private static let padded: Set<Opcode> = [LESetAdvertisingData.opcode, LESetScanResponseData.opcode]

    private var handlers: [Opcode: Handler] = [:]
    private var bits: [Opcode: SupportedCommands.Bit] = [:]
    private var features: [Opcode: LEFeatures] = [:]

    private init() {
        addControllerCommands()
        addAdvertisingCommands()
        addScanningCommands()
        addInitiatingCommands()
        addLinkCommands()
        addProcedureCommands()
        addHostFlowCommands()
    }

    /// The bits for Read Local Supported Commands of a controller with these features.
    func supported(with available: LEFeatures) -> SupportedCommands {
        var supported = SupportedCommands()
        for (opcode, bit) in bits where isKnown(opcode, with: available) { supported.insert(bit) }
        return supported
    }

    /// A command that comes with a feature is unknown to a controller that has none of these.
    mutating func require<C: HCICommand>(_ needed: LEFeatures, for type: C.Type) {
        features[type.opcode] = needed
    }

    private func isKnown(_ opcode: Opcode, with available: LEFeatures) -> Bool {
        features[opcode].map { !available.isDisjoint(with: $0) } ?? true
    }

    /// Carries a command out and returns its answer, if it has one (Core Vol 4 Part E 4.4, 4.5).
    func carryOut(_ command: CommandPacket, on controller: VirtualController) -> HCIPacket? {
        guard let handler = handlers[command.opcode],
            isKnown(command.opcode, with: controller.configuration.features)
        else {
            return HCIPacket(CommandStatus(status: .unknownCommand, credits: Self.credits, opcode: command.opcode))
        }
        return handler(controller, command.parameters)
    }

    /// Adds a command that is answered by Command Complete.
    mutating func add<C: HCICommand>(
        _ type: C.Type,
        _ body: @escaping @Sendable (VirtualController, C) -> C.Response
    ) {
        register(type) { controller, command in
            HCIPacket(CommandComplete(type, body(controller, command), credits: Self.credits))
        } failure: { status in
            HCIPacket(CommandComplete(type, C.Response(failure: status), credits: Self.credits))
        }
    }

    /// Adds a command that is answered by a status alone: in Command Status or in Command Complete, as it is for this
    /// command. Events that follow from it are sent behind the answer.
    mutating func add<C: HCICommand>(
        _ type: C.Type,
        _ body: @escaping @Sendable (VirtualController, C) -> HCIStatus
    ) where C.Response == StatusOnly {
        register(type) { controller, command in
            Self.answer(type, body(controller, command))
        } failure: { status in
            Self.answer(type, status)
        }
    }

    /// Adds a command that is answered only if something is wrong with it.
    mutating func addUnanswered<C: HCICommand>(
        _ type: C.Type,
        _ body: @escaping @Sendable (VirtualController, C) -> HCIStatus
    ) where C.Response == StatusOnly {
        register(type) { controller, command in
            let status = body(controller, command)
            return status == .success ? nil : Self.answer(type, status)
        } failure: { status in
            Self.answer(type, status)
        }
    }

    private static func answer<C: HCICommand>(_ type: C.Type, _ status: HCIStatus) -> HCIPacket
    where C.Response == StatusOnly {
        C.isAnsweredByStatus
            ? HCIPacket(CommandStatus(status: status, credits: credits, opcode: C.opcode))
            : HCIPacket(CommandComplete(type, StatusOnly(status), credits: credits))
    }

    private mutating func register<C: HCICommand>(
        _ type: C.Type,
        _ body: @escaping @Sendable (VirtualController, C) -> HCIPacket?,
        failure: @escaping @Sendable (HCIStatus) -> HCIPacket
    ) {
        bits[C.opcode] = C.supportBit
        let isPadded = Self.padded.contains(C.opcode)
        handlers[C.opcode] = { controller, parameters in
            // What reads well and would be written otherwise was not written by the rules: a switch that is neither on
            // nor off.
            guard let command = try? C(reading: parameters), isPadded || command.encoded() == parameters else {
                return failure(.invalidParameters)
            }
            return body(controller, command)
        }
    }
}
