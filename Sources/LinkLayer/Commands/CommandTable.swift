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

    private struct Entry {
        var bit: SupportedCommands.Bit?
        /// Features of which the controller must have one, if there are any.
        var features: LEFeatures = []
        /// Which of the two ways to advertise and scan the command belongs to.
        var commands = AdvertisingCommands.none
        /// The answer to a command that is refused.
        var failure: @Sendable (HCIStatus) -> HCIPacket
        var handler: Handler

        func isKnown(with available: LEFeatures) -> Bool {
            features.isEmpty || !available.isDisjoint(with: features)
        }
    }

    private var entries: [Opcode: Entry] = [:]

    private init() {
        addControllerCommands()
        addAdvertisingCommands()
        addScanningCommands()
        addInitiatingCommands()
        addExtendedAdvertisingCommands()
        addExtendedScanningCommands()
        addExtendedInitiatingCommands()
        addPrivacyCommands()
        addLinkCommands()
        addProcedureCommands()
        addEncryptionCommands()
        addPublicKeyCommands()
        addSubratingCommands()
        addPeriodicCommands()
        addHostFlowCommands()
    }

    /// The bits for Read Local Supported Commands of a controller with these features.
    func supported(with available: LEFeatures) -> SupportedCommands {
        var supported = SupportedCommands()
        for entry in entries.values where entry.isKnown(with: available) {
            if let bit = entry.bit { supported.insert(bit) }
        }
        return supported
    }

    /// A command that comes with a feature is unknown to a controller that has none of these.
    mutating func require<C: HCICommand>(_ needed: LEFeatures, for type: C.Type) {
        entries[type.opcode]?.features = needed
    }

    /// Carries a command out and returns its answer, if it has one (Core Vol 4 Part E 4.4, 4.5).
    func carryOut(_ command: CommandPacket, on controller: VirtualController) -> HCIPacket? {
        guard let entry = entries[command.opcode], entry.isKnown(with: controller.configuration.features)
        else {
            return HCIPacket(CommandStatus(status: .unknownCommand, credits: Self.credits, opcode: command.opcode))
        }
        guard controller.advertisingCommands.admit(entry.commands) else { return entry.failure(.commandDisallowed) }
        return entry.handler(controller, command.parameters)
    }

    /// Says of commands that have been added that they are of one way to advertise and scan, and need a feature.
    mutating func mark(_ opcodes: [Opcode], as commands: AdvertisingCommands, feature: LEFeatures = []) {
        for opcode in opcodes {
            entries[opcode]?.commands = commands
            entries[opcode]?.features = feature
        }
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
        let isPadded = Self.padded.contains(C.opcode)
        let handler: Handler = { controller, parameters in
            do throws(PacketError) {
                let command = try C(reading: parameters)
                // What reads well and would be written otherwise was not written by the rules: a switch that is neither
                // on nor off.
                guard isPadded || command.encoded() == parameters else { return failure(.invalidParameters) }
                return body(controller, command)
            } catch {
                return failure(Self.status(for: error))
            }
        }
        entries[C.opcode] = Entry(bit: C.supportBit, failure: failure, handler: handler)
    }

    /// What is wrong with parameters that cannot be read. PHYs that there are not may be there one day (Core Vol 4 Part E
    /// 7.8.64, 7.8.66).
    private static func status(for error: PacketError) -> HCIStatus {
        guard case .value = error.cause, error.field.hasSuffix("_PHYs") else { return .invalidParameters }
        return .unsupportedFeatureOrParameter
    }
}

/// The two ways to advertise, scan and initiate, which a host does not mix: with the first command of either the other
/// one's are disallowed until the next reset (Core Vol 4 Part E 3.1.1).
enum AdvertisingCommands {
    /// Neither has been used; or a command that belongs to neither.
    case none
    case legacy
    case extended

    /// Whether a command of this kind may come; from now on the other ones may not.
    mutating func admit(_ commands: AdvertisingCommands) -> Bool {
        guard commands != .none else { return true }
        if self == .none { self = commands }
        return self == commands
    }
}
