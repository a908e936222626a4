import BluetoothTypes
import HCI

/// A controller whose answers the test scripts.
package final class ScriptedController {
    /// How the controller reacts to a command.
    package enum Reaction {
        case answer
        case silence
        case refuse(HCIStatus)
        case packets([HCIPacket])
    }

    package let transport: TestTransport
    package var version = SpecificationVersion.v5_4
    package var commands = SupportedCommands(HCICommandRegistry.all)
    package var features: LMPFeatures = [.brEdrNotSupported, .leController]
    package var leFeatures: LEFeatures = [
        .encryption, .connectionParametersRequest, .dataLengthExtension, .privacy, .phy2M, .phyCoded,
        .extendedAdvertising, .channelSelectionAlgorithm2, .ping,
    ]
    package var bufferSize: UInt16 = 251
    package var bufferCount: UInt8 = 4
    package var credits: UInt8 = 1
    package var advertisingSets: UInt8 = 4
    /// Called before each command.
    package var reaction: (Opcode) -> Reaction = { _ in .answer }
    /// The commands to refuse, with their statuses.
    package var refuses: [Opcode: HCIStatus] = [:]
    /// Called with each command after its answer is on the way.
    package var onCommand: (any HCICommand) -> Void = { _ in }
    package private(set) var masks: [String: UInt64] = [:]

    package init(_ transport: TestTransport) {
        self.transport = transport
        transport.onSend = { [weak self] in self?.receive($0) }
    }

    private func receive(_ packet: HCIPacket) {
        guard packet.kind == .command, let frame = try? CommandPacket(reading: packet.bytes) else { return }
        react(to: frame)
        if let command = try? HCICommandRegistry.decode(frame) { onCommand(command) }
    }

    private func react(to frame: CommandPacket) {
        if let status = refuses[frame.opcode] { return refuse(frame.opcode, status) }
        switch reaction(frame.opcode) {
        case .silence: return
        case .refuse(let status): refuse(frame.opcode, status)
        case .packets(let packets): packets.forEach(transport.inject)
        case .answer where frame.opcode == HostNumberOfCompletedPackets.opcode: return
        case .answer: answer(frame)
        }
    }

    package func complete(_ opcode: Opcode, _ parameters: PacketBuffer) {
        transport.inject(HCIPacket(CommandComplete(credits: credits, opcode: opcode, parameters: parameters)))
    }

    private func report(_ status: HCIStatus, of opcode: Opcode) {
        transport.inject(HCIPacket(CommandStatus(status: status, credits: credits, opcode: opcode)))
    }

    private func refuse(_ opcode: Opcode, _ status: HCIStatus) {
        let isAnsweredByStatus = HCICommandRegistry.type(for: opcode)?.isAnsweredByStatus ?? false
        if isAnsweredByStatus { report(status, of: opcode) } else { complete(opcode, [status.rawValue]) }
    }

    private func answer(_ frame: CommandPacket) {
        guard let command = try? HCICommandRegistry.decode(frame), commands.contains(type(of: command)) else {
            return complete(frame.opcode, [HCIStatus.unknownCommand.rawValue])
        }
        if type(of: command).isAnsweredByStatus { return report(.success, of: frame.opcode) }
        note(command)
        complete(frame.opcode, response(command).encoded())
    }

    private func note(_ command: any HCICommand) {
        switch command {
        case let command as SetEventMask: masks["event"] = command.mask.rawValue
        case let command as SetEventMaskPage2: masks["page 2"] = command.mask.rawValue
        case let command as LESetEventMask: masks["LE"] = command.mask.rawValue
        default: break
        }
    }

    private func response(_ command: any HCICommand) -> any HCIResponse {
        switch command {
        case is ReadLocalVersionInformation:
            ReadLocalVersionInformation.Response {
                $0.hciVersion = version
                $0.hciRevision = 1
                $0.linkLayerVersion = version
                $0.companyIdentifier = 0x05F1
                $0.linkLayerSubversion = 2
            }
        case is ReadLocalSupportedCommands: ReadLocalSupportedCommands.Response(commands: commands)
        case is ReadLocalSupportedFeatures: ReadLocalSupportedFeatures.Response(features: features)
        case is ReadBDADDR:
            ReadBDADDR.Response(address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice))
        case is LEReadLocalSupportedFeatures: LEReadLocalSupportedFeatures.Response(features: leFeatures)
        case is LEReadBufferSizeV2:
            LEReadBufferSizeV2.Response(
                LEReadBufferSize.Response(aclDataPacketLength: bufferSize, totalACLDataPackets: bufferCount)
            )
        case is LEReadBufferSize:
            LEReadBufferSize.Response(aclDataPacketLength: bufferSize, totalACLDataPackets: bufferCount)
        case is ReadBufferSize:
            ReadBufferSize.Response {
                $0.aclDataPacketLength = 1_021
                $0.synchronousDataPacketLength = 64
                $0.totalACLDataPackets = 5
                $0.totalSynchronousDataPackets = 1
            }
        case is LEReadSupportedStates: LEReadSupportedStates.Response(states: .all)
        case is LEReadFilterAcceptListSize: LEReadFilterAcceptListSize.Response(8)
        case is LEReadResolvingListSize: LEReadResolvingListSize.Response(7)
        case is LEReadMaximumDataLength:
            LEReadMaximumDataLength.Response(txOctets: 251, txTime: 2_120, rxOctets: 251, rxTime: 2_120)
        case is LEReadTransmitPower: LEReadTransmitPower.Response(minimum: -20, maximum: 8)
        case is LEReadMaximumAdvertisingDataLength: LEReadMaximumAdvertisingDataLength.Response(1_650)
        case is LEReadNumberOfSupportedAdvertisingSets:
            LEReadNumberOfSupportedAdvertisingSets.Response(advertisingSets)
        case is LERand: LERand.Response(number: 0x0102_0304_0506_0708)
        case let command as LELongTermKeyRequestReply: StatusAndHandle(.success, handle: command.handle)
        case let command as LELongTermKeyRequestNegativeReply: StatusAndHandle(.success, handle: command.handle)
        case let command as LERemoteConnectionParameterRequestNegativeReply:
            StatusAndHandle(.success, handle: command.handle)
        default: Self.blankResponse(to: command)
        }
    }

    /// A success whose other fields are zero.
    private static func blankResponse<C: HCICommand>(to command: C) -> any HCIResponse { C.Response() }
}
