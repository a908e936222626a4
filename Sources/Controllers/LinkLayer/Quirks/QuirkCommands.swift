import BluetoothTypes
import HCI

/// Applies quirks to the packets from the host to the controller.
struct QuirkCommands {
    enum Action {
        /// Passes a packet to the controller.
        case pass(HCIPacket)
        /// Sends the host a response that is not the controller's.
        case answer(HCIPacket)
        /// Sends the controller a command that is not the host's.
        case inject(HCIPacket)
        /// Counts an occurrence of a quirk.
        case show(ControllerQuirk)
        /// The reset just passed on has been carried out.
        case wasReset
    }

    /// The maximum number of tracked advertising sets: all that can exist.
    static let maximumSets = 256

    private let quirks: Set<ControllerQuirk>
    private var isHung = false
    private var roles = QuirkRoles()
    /// The address that each set uses, and the one it is to use.
    private var shownAddresses: [UInt8: BluetoothAddress] = [:]
    private var newAddresses: [UInt8: BluetoothAddress] = [:]
    private var hasAcceptList = false
    private var commandSets = QuirkCommandSets()

    init(_ quirks: Set<ControllerQuirk>) { self.quirks = quirks }

    mutating func handle(_ packet: HCIPacket) -> [Action] {
        switch packet.kind {
        case .acl: return data(packet)
        case .command:
            guard let command = try? CommandPacket(reading: packet.bytes) else { return [.pass(packet)] }
            return handle(command, packet)
        case .event, .synchronous, .isochronous: return [.pass(packet)]
        }
    }

    /// Tracks an event from the controller before the host receives it.
    mutating func note(_ event: EventPacket) {
        if quirks.contains(.statesLie) { roles.note(event) }
    }

    private func data(_ packet: HCIPacket) -> [Action] {
        guard !isHung else { return [] }
        guard quirks.contains(.startMarkIgnored), let data = try? ACLPacket(reading: packet.bytes),
            data.boundary == .start
        else { return [.pass(packet)] }
        let done = NumberOfCompletedPackets(entries: [CompletedPackets(handle: data.handle, count: 1)])
        return [.show(.startMarkIgnored), .answer(HCIPacket(done))]
    }

    private mutating func handle(_ command: CommandPacket, _ packet: HCIPacket) -> [Action] {
        if command.opcode == Reset.opcode {
            (isHung, hasAcceptList, roles, commandSets) = (false, false, QuirkRoles(), QuirkCommandSets())
            (shownAddresses, newAddresses) = ([:], [:])
            return [.pass(packet), .wasReset]
        }
        guard !isHung else { return [] }
        if let quirk = hangs(command) {
            isHung = true
            return [.show(quirk)]
        }
        if let (quirk, status) = refusal(of: command) {
            return [.show(quirk), .answer(Self.answer(command.opcode, status))]
        }
        if quirks.contains(.dataLengthNeverStarted), command.opcode == LEWriteSuggestedDefaultDataLength.opcode {
            return [.show(.dataLengthNeverStarted), .answer(Self.answer(command.opcode, .success))]
        }
        return quirks.contains(.staleAddresses) ? addresses(command, packet) : [.pass(packet)]
    }

    // MARK: Failing commands

    private func hangs(_ command: CommandPacket) -> ControllerQuirk? {
        if quirks.contains(.legacyScanHangs), command.opcode == LESetScanEnable.opcode, command.parameters.first == 1 {
            return .legacyScanHangs
        }
        // Set Event Filter, Read Stored Link Key, Delete Stored Link Key, Read Default Erroneous Data Reporting (Core
        // Vol 4 Part E 7.3.3, 7.3.8, 7.3.10, 7.3.64).
        let ofBREDR = [0x0005, 0x000D, 0x0012, 0x005A].map { Opcode(group: .baseband, command: $0) }
        return quirks.contains(.shortReplies) && ofBREDR.contains(command.opcode) ? .shortReplies : nil
    }

    private mutating func refusal(of command: CommandPacket) -> (ControllerQuirk, HCIStatus)? {
        if quirks.contains(.strictCommandSets), !commandSets.admit(command.opcode) {
            return (.strictCommandSets, .commandDisallowed)
        }
        if quirks.contains(.extendedScanRefused), command.opcode == LESetExtendedScanParameters.opcode {
            return (.extendedScanRefused, .unknownCommand)
        }
        if quirks.contains(.claimedCommandsRefused), Self.claimed.contains(command.opcode) {
            return (.claimedCommandsRefused, .unknownCommand)
        }
        if quirks.contains(.codedRefused), Self.usesCoded(command) {
            return (.codedRefused, .unsupportedFeatureOrParameter)
        }
        if quirks.contains(.initiating2MRefused), Self.initiatesOn2M(command) {
            return (.initiating2MRefused, .unsupportedFeatureOrParameter)
        }
        if quirks.contains(.acceptListConnectRefused), Self.usesAcceptList(command) {
            return (.acceptListConnectRefused, .connectionAlreadyExists)
        }
        if quirks.contains(.statesLie), !roles.admit(command) { return (.statesLie, .commandDisallowed) }
        return nil
    }

    /// LE Extended Create Connection, both versions of LE Set Resolvable Private Address Timeout, Read and Write
    /// Authenticated Payload Timeout, Read Encryption Key Size (Core Vol 4 Part E 7.5.7).
    private static let claimed: [Opcode] = [
        LEExtendedCreateConnection.opcode, LESetResolvablePrivateAddressTimeout.opcode,
        LESetResolvablePrivateAddressTimeoutV2.opcode, ReadAuthenticatedPayloadTimeout.opcode,
        WriteAuthenticatedPayloadTimeout.opcode, Opcode(group: .statusParameters, command: 0x0008),
    ]

    private static func usesCoded(_ command: CommandPacket) -> Bool {
        switch command.opcode {
        case LESetExtendedScanParameters.opcode:
            (try? LESetExtendedScanParameters(reading: command.parameters))?.coded != nil
        case LEExtendedCreateConnection.opcode:
            (try? LEExtendedCreateConnection(reading: command.parameters))?.coded != nil
        case LESetPHY.opcode:
            (try? LESetPHY(reading: command.parameters)).map {
                !$0.txPHYs.union($0.rxPHYs).isDisjoint(with: .coded)
            } ?? false
        default: false
        }
    }

    private static func initiatesOn2M(_ command: CommandPacket) -> Bool {
        guard command.opcode == LEExtendedCreateConnection.opcode else { return false }
        return (try? LEExtendedCreateConnection(reading: command.parameters))?.le2M != nil
    }

    private static func usesAcceptList(_ command: CommandPacket) -> Bool {
        switch command.opcode {
        case LECreateConnection.opcode:
            (try? LECreateConnection(reading: command.parameters))?.filterPolicy == .acceptList
        case LEExtendedCreateConnection.opcode:
            (try? LEExtendedCreateConnection(reading: command.parameters))?.filterPolicy == .acceptList
        default: false
        }
    }

    /// The response to a failed command may consist of the status alone (Core Vol 4 Part E 7.7.14).
    private static func answer(_ opcode: Opcode, _ status: HCIStatus) -> HCIPacket {
        if HCICommandRegistry.type(for: opcode)?.isAnsweredByStatus == true {
            return HCIPacket(CommandStatus(status: status, credits: HostPort.credits, opcode: opcode))
        }
        let parameters = PacketBuffer([status.rawValue])
        return HCIPacket(CommandComplete(credits: HostPort.credits, opcode: opcode, parameters: parameters))
    }

    // MARK: Stale addresses

    private mutating func addresses(_ command: CommandPacket, _ packet: HCIPacket) -> [Action] {
        switch command.opcode {
        case LESetAdvertisingSetRandomAddress.opcode:
            guard let new = try? LESetAdvertisingSetRandomAddress(reading: command.parameters) else { break }
            guard let old = shownAddresses[new.set], old != new.address else {
                shownAddresses[new.set] = new.address
                break
            }
            newAddresses[new.set] = new.address
            return [
                .show(.staleAddresses), .pass(HCIPacket(LESetAdvertisingSetRandomAddress(set: new.set, address: old))),
            ]
        case LESetExtendedAdvertisingParameters.opcode:
            guard let set = command.parameters.first, let address = newAddresses.removeValue(forKey: set) else { break }
            shownAddresses[set] = address
            return [.pass(packet), .inject(HCIPacket(LESetAdvertisingSetRandomAddress(set: set, address: address)))]
        case LEAddDeviceToFilterAcceptList.opcode: hasAcceptList = true
        case LEAddDeviceToResolvingList.opcode, LERemoveDeviceFromResolvingList.opcode, LEClearResolvingList.opcode:
            guard hasAcceptList else { break }
            hasAcceptList = false
            return [.pass(packet), .show(.staleAddresses), .inject(HCIPacket(LEClearFilterAcceptList()))]
        default: break
        }
        return [.pass(packet)]
    }
}
