import BluetoothTypes
import EventLoops
import HCI

/// The commands that the controller implements, with their handlers. The supported commands reported to the host are
/// derived from this table.
struct CommandTable {
    private typealias Handler = @Sendable (VirtualController, PacketBuffer) -> HCIPacket?

    static let shared = CommandTable()

    /// Commands whose parameters contain ignored octets.
    private static let padded: Set<Opcode> = [LESetAdvertisingData.opcode, LESetScanResponseData.opcode]

    private struct Entry {
        var bit: SupportedCommands.Bit?
        /// The features of which the controller must have at least one; empty if none is required.
        var features: LEFeatures
        /// The command set to which the command belongs.
        var commands: AdvertisingCommandSet
        /// The response to a rejected command.
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
        addSoundingCommands()
        addPeriodicCommands()
        addHostFlowCommands()
    }

    /// Returns the bits for Read Local Supported Commands of a controller with these features.
    func supported(with available: LEFeatures) -> SupportedCommands {
        var supported = SupportedCommands()
        for entry in entries.values where entry.isKnown(with: available) {
            if let bit = entry.bit { supported.insert(bit) }
        }
        return supported
    }

    /// Carries out a command and returns its response, if it has one (Core Vol 4 Part E 4.4, 4.5).
    func carryOut(_ command: CommandPacket, on controller: VirtualController) -> HCIPacket? {
        guard let entry = entries[command.opcode], entry.isKnown(with: controller.configuration.features)
        else {
            return HCIPacket(CommandStatus(status: .unknownCommand, credits: HostPort.credits, opcode: command.opcode))
        }
        guard controller.admits(entry.commands) else { return entry.failure(.commandDisallowed) }
        return entry.handler(controller, command.parameters)
    }

    /// Adds a command with a Command Complete response.
    ///
    /// - Parameters:
    ///   - commands: The command set to which the command belongs.
    ///   - features: The features of which a controller must have at least one to know the command; empty for none.
    mutating func add<C: HCICommand>(
        _ type: C.Type,
        as commands: AdvertisingCommandSet = .none,
        needs features: LEFeatures = [],
        _ body: @escaping @Sendable (VirtualController, C) -> C.Response
    ) {
        register(type, commands, features) { controller, command in
            HCIPacket(CommandComplete(type, body(controller, command), credits: HostPort.credits))
        } failure: { status in
            HCIPacket(CommandComplete(type, C.Response(failure: status), credits: HostPort.credits))
        }
    }

    /// Adds a command whose response is a status only, in Command Status or in Command Complete, depending on the
    /// command. Events that the command raises follow the response.
    mutating func add<C: HCICommand>(
        _ type: C.Type,
        as commands: AdvertisingCommandSet = .none,
        needs features: LEFeatures = [],
        _ body: @escaping @Sendable (VirtualController, C) -> HCIStatus
    ) where C.Response == StatusOnly {
        register(type, commands, features) { controller, command in
            Self.answer(type, body(controller, command))
        } failure: { status in
            Self.answer(type, status)
        }
    }

    /// Adds a command that has a response only in case of an error.
    mutating func addUnanswered<C: HCICommand>(
        _ type: C.Type,
        _ body: @escaping @Sendable (VirtualController, C) -> HCIStatus
    ) where C.Response == StatusOnly {
        register(type, .none, []) { controller, command in
            let status = body(controller, command)
            return status == .success ? nil : Self.answer(type, status)
        } failure: { status in
            Self.answer(type, status)
        }
    }

    private static func answer<C: HCICommand>(_ type: C.Type, _ status: HCIStatus) -> HCIPacket
    where C.Response == StatusOnly {
        C.isAnsweredByStatus
            ? HCIPacket(CommandStatus(status: status, credits: HostPort.credits, opcode: C.opcode))
            : HCIPacket(CommandComplete(type, StatusOnly(status), credits: HostPort.credits))
    }

    private mutating func register<C: HCICommand>(
        _ type: C.Type,
        _ commands: AdvertisingCommandSet,
        _ features: LEFeatures,
        _ body: @escaping @Sendable (VirtualController, C) -> HCIPacket?,
        failure: @escaping @Sendable (HCIStatus) -> HCIPacket
    ) {
        let isPadded = Self.padded.contains(C.opcode)
        let handler: Handler = { controller, parameters in
            do throws(PacketError) {
                let command = try C(reading: parameters)
                // Parameters that parse but would be encoded differently are invalid, such as a Boolean that is neither
                // 0 nor 1.
                guard isPadded || command.encoded() == parameters else { return failure(.invalidParameters) }
                return body(controller, command)
            } catch {
                return failure(Self.status(for: error))
            }
        }
        entries[C.opcode] = Entry(
            bit: C.supportBit,
            features: features,
            commands: commands,
            failure: failure,
            handler: handler
        )
    }

    /// Returns the status for parameters that cannot be parsed. Unknown PHYs may be defined in a later version, so they
    /// are unsupported rather than invalid (Core Vol 4 Part E 7.8.64, 7.8.66).
    private static func status(for error: PacketError) -> HCIStatus {
        guard case .value = error.cause, error.field.hasSuffix("_PHYs") else { return .invalidParameters }
        return .unsupportedFeatureOrParameter
    }
}

extension VirtualController {
    /// Creates a controller at one end of an HCI transport. It carries out the commands of ``CommandTable``.
    ///
    /// - Parameters:
    ///   - transport: The controller's end of the transport to the host.
    ///   - node: The radio node, for exclusive use by the controller.
    ///   - loop: The event loop of the radio.
    ///   - random: The source of addresses, delays and backoff. `split` one off for each controller.
    ///   - configuration: The properties of the controller.
    package convenience init(
        transport: any HCITransport,
        node: RadioNode,
        loop: any EventLoop,
        random: RandomSource,
        configuration: VirtualControllerConfiguration
    ) {
        self.init(
            transport: transport,
            node: node,
            loop: loop,
            random: random,
            configuration: configuration,
            carryOut: CommandTable.shared.carryOut
        )
    }
}
