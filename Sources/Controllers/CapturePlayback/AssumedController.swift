import BluetoothTypes
import HCI

/// The controller of a capture that begins after the host had initialized it, as captures of `btmon` and of phones
/// mostly do: it has no Reset, and does not tell the features. So they are taken from the commands in the capture.
struct AssumedController: Sendable {
    private let commands: SupportedCommands
    private let features: LEFeatures
    private let isExtended: Bool

    /// - Parameter used: The opcodes of the commands in the capture.
    /// - Returns: nil if the capture has a Reset, which precedes the initialization (Core Vol 4 Part E 7.3.2).
    init?(_ used: Set<UInt16>) {
        guard !used.contains(Reset.opcode.rawValue) else { return nil }
        isExtended = !used.isDisjoint(with: CommandFamily.extended)
        let family = isExtended ? CommandFamily.extended : CommandFamily.legacy
        let known = used.union(family).compactMap { HCICommandRegistry.type(for: Opcode(rawValue: $0)) }
        commands = SupportedCommands(
            known + Self.settings + Self.questions + (isExtended ? Self.extendedQuestions : [])
        )
        var features: LEFeatures = []
        for (feature, opcodes) in Self.evidence where !used.isDisjoint(with: opcodes) { features.insert(feature) }
        self.features = features
    }

    /// The commands that show a feature.
    private static let evidence: [(LEFeatures, [UInt16])] = [
        (.encryption, [LEEnableEncryption.opcode.rawValue, LELongTermKeyRequestReply.opcode.rawValue]),
        (.dataLengthExtension, [LESetDataLength.opcode.rawValue]),
        (.phy2M, [LESetPHY.opcode.rawValue]),
        (.extendedAdvertising, Array(CommandFamily.extended)),
    ]

    /// The settings of the initialization; only a status answers them.
    private static let settings: [any HCICommand.Type] = [
        Reset.self, SetEventMask.self, SetEventMaskPage2.self, LESetEventMask.self, LESetRandomAddress.self,
    ]

    /// The questions of the initialization.
    private static let questions: [any HCICommand.Type] = [
        ReadLocalVersionInformation.self, ReadLocalSupportedFeatures.self, ReadBDADDR.self,
        LEReadLocalSupportedFeatures.self, LEReadBufferSize.self, LEReadSupportedStates.self,
        LEReadFilterAcceptListSize.self, Disconnect.self, LECreateConnectionCancel.self,
    ]

    private static let extendedQuestions: [any HCICommand.Type] = [
        LEReadMaximumAdvertisingDataLength.self, LEReadNumberOfSupportedAdvertisingSets.self,
        LESetAdvertisingSetRandomAddress.self,
    ]

    /// Returns the return parameters of a command of the initialization, or nil for other commands.
    func answer(to opcode: Opcode) -> PacketBuffer? {
        if Self.settings.contains(where: { $0.opcode == opcode }) { return StatusOnly().encoded() }
        switch opcode {
        case ReadLocalVersionInformation.opcode: return version.encoded()
        case ReadLocalSupportedCommands.opcode:
            return ReadLocalSupportedCommands.Response(commands: commands).encoded()
        case ReadLocalSupportedFeatures.opcode:
            return ReadLocalSupportedFeatures.Response(features: [.leController, .brEdrNotSupported]).encoded()
        case ReadBDADDR.opcode: return ReadBDADDR.Response(address: Self.address).encoded()
        case LEReadLocalSupportedFeatures.opcode:
            return LEReadLocalSupportedFeatures.Response(features: features).encoded()
        case LEReadBufferSize.opcode:
            return LEReadBufferSize.Response(aclDataPacketLength: 251, totalACLDataPackets: 8).encoded()
        default: return limit(opcode)
        }
    }

    private func limit(_ opcode: Opcode) -> PacketBuffer? {
        switch opcode {
        case LEReadSupportedStates.opcode: LEReadSupportedStates.Response(states: Self.states).encoded()
        case LEReadFilterAcceptListSize.opcode: LEReadFilterAcceptListSize.Response(8).encoded()
        case LEReadMaximumAdvertisingDataLength.opcode:
            LEReadMaximumAdvertisingDataLength.Response(251).encoded()
        case LEReadNumberOfSupportedAdvertisingSets.opcode:
            LEReadNumberOfSupportedAdvertisingSets.Response(4).encoded()
        default: nil
        }
    }

    private var version: ReadLocalVersionInformation.Response {
        // Extended advertising came with version 5.0. 0xFFFF is no company.
        let version = SpecificationVersion(rawValue: isExtended ? 0x09 : 0x08)
        return ReadLocalVersionInformation.Response {
            $0.hciVersion = version
            $0.hciRevision = 0
            $0.linkLayerVersion = version
            $0.companyIdentifier = 0xFFFF
            $0.linkLayerSubversion = 0
        }
    }

    /// A capture does not tell the address of its controller.
    private static let address = BluetoothAddress(0x0000_0000_0001, kind: .publicDevice)
    /// All states and combinations, bits 0 to 41 (Core Vol 4 Part E 7.8.27).
    private static let states = LEStates(rawValue: (1 << 42) - 1)
}
