import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// The statuses that hosts get for invalid commands (Core Vol 4 Part E 4.4, 4.5, 7.1, 7.3 to 7.8), except those for
/// advertising, scanning and initiating.
@Suite struct LinkCommandTests {
    /// Every command about the controller and about links.
    static let commands: [any HCICommand.Type] = [
        Disconnect.self, ReadRemoteVersionInformation.self, SetEventMask.self, Reset.self, SetEventMaskPage2.self,
        ReadTransmitPowerLevel.self, SetControllerToHostFlowControl.self, HostBufferSize.self,
        HostNumberOfCompletedPackets.self, ReadAuthenticatedPayloadTimeout.self, WriteAuthenticatedPayloadTimeout.self,
        ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self, ReadLocalSupportedFeatures.self,
        ReadBDADDR.self, ReadRSSI.self, LESetEventMask.self, LEReadBufferSize.self, LEReadBufferSizeV2.self,
        LEReadLocalSupportedFeatures.self, LESetRandomAddress.self, LEReadSupportedStates.self,
        LEReadTransmitPower.self, LEReadRFPathCompensation.self, LEWriteRFPathCompensation.self,
        LERequestPeerSCA.self, LESetHostFeature.self, LEConnectionUpdate.self, LESetHostChannelClassification.self,
        LEReadChannelMap.self, LEReadRemoteFeatures.self, LERemoteConnectionParameterRequestReply.self,
        LERemoteConnectionParameterRequestNegativeReply.self, LEReadFilterAcceptListSize.self,
        LEClearFilterAcceptList.self, LEAddDeviceToFilterAcceptList.self, LERemoveDeviceFromFilterAcceptList.self,
        LERand.self, LESetDataLength.self, LEReadSuggestedDefaultDataLength.self,
        LEWriteSuggestedDefaultDataLength.self, LEReadMaximumDataLength.self, LEReadPHY.self, LESetDefaultPHY.self,
        LESetPHY.self, LEEncrypt.self, LEEnableEncryption.self, LELongTermKeyRequestReply.self,
        LELongTermKeyRequestNegativeReply.self,
    ]

    /// The commands about a link.
    static let linkCommands: [any HCICommand.Type] = [
        Disconnect.self, ReadRemoteVersionInformation.self, ReadTransmitPowerLevel.self,
        ReadAuthenticatedPayloadTimeout.self, WriteAuthenticatedPayloadTimeout.self, ReadRSSI.self,
        LERequestPeerSCA.self, LEConnectionUpdate.self, LEReadChannelMap.self, LEReadRemoteFeatures.self,
        LERemoteConnectionParameterRequestReply.self, LERemoteConnectionParameterRequestNegativeReply.self,
        LESetDataLength.self, LEReadPHY.self, LESetPHY.self, LEEnableEncryption.self, LELongTermKeyRequestReply.self,
        LELongTermKeyRequestNegativeReply.self,
    ]

    private static func packet(_ opcode: Opcode, _ parameters: [UInt8]) -> HCIPacket {
        let number = opcode.rawValue
        let header = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        return HCIPacket(.command, PacketBuffer(header + [UInt8(parameters.count)] + parameters))
    }

    /// The answer to a packet: event code, opcode and status.
    private func answer(_ host: TestHost, _ packet: HCIPacket) throws -> (EventCode, Opcode, HCIStatus) {
        let before = host.packets.count
        let status = host.send(packet)
        try #require(before < host.packets.count)
        let event = try EventPacket(reading: host.packets[before].packet.bytes)
        if event.code == CommandStatus.eventCode {
            return (event.code, try CommandStatus(reading: event.parameters).opcode, status)
        }
        return (event.code, try CommandComplete(reading: event.parameters).opcode, status)
    }

    @Test(arguments: commands.indices)
    func aWrongLengthIsInvalid(index: Int) throws {
        let type = Self.commands[index]
        let host = LinkLayerWorld().host()
        let good = Array(type.init().encoded())
        var wrong = (0..<good.count).map { Array(good.prefix($0)) }
        wrong.append(good + [0])
        for parameters in wrong {
            let (event, opcode, status) = try answer(host, Self.packet(type.opcode, parameters))
            #expect(status == .invalidParameters, "\(type.name), \(parameters.count) octets")
            #expect(opcode == type.opcode)
            #expect(event == (type.isAnsweredByStatus ? CommandStatus.eventCode : CommandComplete.eventCode))
        }
    }

    @Test(arguments: linkCommands.indices)
    func aHandleThatNobodyHasIsUnknown(index: Int) throws {
        let type = Self.linkCommands[index]
        let pair = try Pair()
        // A valid handle without a link, the last valid handle, and invalid handles.
        for handle in [pair.centralHandle.rawValue + 1, 0x0EFF, 0x0F00, 0xFFFF] {
            var parameters = Array(type.init().encoded())
            parameters[0] = UInt8(truncatingIfNeeded: handle)
            parameters[1] = UInt8(truncatingIfNeeded: handle >> 8)
            let (_, opcode, status) = try answer(pair.central, Self.packet(type.opcode, parameters))
            #expect(opcode == type.opcode)
            #expect(status == .unknownConnection || handle >= 0x1000 && status == .invalidParameters, "\(type.name)")
        }
        #expect(pair.central.controller.links.count == 1)
    }

    @Test(arguments: [0x0000, 0x0405, 0x0C13, 0x1005, 0x205F, 0x2075, 0xFC01, 0xFFFF] as [UInt16])
    func unsupportedCommandsAreUnknown(number: UInt16) throws {
        let host = LinkLayerWorld().host()
        let (event, opcode, status) = try answer(host, Self.packet(Opcode(rawValue: number), [1, 2, 3]))
        #expect(event == CommandStatus.eventCode)
        #expect(opcode.rawValue == number)
        #expect(status == .unknownCommand)
        let commands = try host.read(ReadLocalSupportedCommands()).commands
        if let type = HCICommandRegistry.type(for: opcode) { #expect(!commands.contains(type)) }
    }

    // Without a feature, a controller lacks the feature's commands too.
    @Test func commandsComeWithTheirFeatures() throws {
        let host = LinkLayerWorld().host { $0.features = [] }
        let commands = try host.read(ReadLocalSupportedCommands()).commands
        let gone: [any HCICommand.Type] = [
            LESetDataLength.self, LEReadMaximumDataLength.self, LESetPHY.self, LEReadPHY.self, LESetDefaultPHY.self,
            LERequestPeerSCA.self, LERemoteConnectionParameterRequestReply.self, WriteAuthenticatedPayloadTimeout.self,
            LEEnableEncryption.self, LELongTermKeyRequestReply.self, LELongTermKeyRequestNegativeReply.self,
            LEReadLocalP256PublicKey.self, LEGenerateDHKey.self, LEGenerateDHKeyV2.self,
        ]
        for type in gone {
            #expect(!commands.contains(type), "\(type.name)")
            let (_, _, status) = try answer(host, Self.packet(type.opcode, Array(type.init().encoded())))
            #expect(status == .unknownCommand, "\(type.name)")
        }
        #expect(commands.contains(LEConnectionUpdate.self))
        #expect(commands.contains(Disconnect.self))
    }

    /// A named command for a fresh controller.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: HCIStatus
        var packet: HCIPacket

        init(_ name: String, _ status: HCIStatus, _ command: some HCICommand) {
            (testDescription, self.status, packet) = (name, status, HCIPacket(command))
        }

        init(_ name: String, _ status: HCIStatus, raw: [UInt8]) {
            (testDescription, self.status, packet) = (name, status, HCIPacket(.command, PacketBuffer(raw)))
        }
    }

    private static let anybody = BluetoothAddress(1, kind: .publicDevice)

    static let cases: [Case] = [
        Case("every event", .success, SetEventMask(mask: EventMask(rawValue: .max))),
        Case("no event", .success, SetEventMask(mask: [])),
        Case("every LE event", .success, LESetEventMask(mask: LEEventMask(rawValue: .max))),
        Case("page 2", .success, SetEventMaskPage2(mask: EventMaskPage2(rawValue: .max))),
        Case("no random address", .invalidParameters, LESetRandomAddress(address: .none)),
        Case("path of 128 dB", .success, LEWriteRFPathCompensation(transmit: 1_280, receive: -1_280)),
        Case("path of 128.1 dB", .invalidParameters, LEWriteRFPathCompensation(transmit: 1_281, receive: 0)),
        Case("path of -128.1 dB", .invalidParameters, LEWriteRFPathCompensation(transmit: 0, receive: -1_281)),
        Case("no isochronous host", .success, LESetHostFeature(bitNumber: 32, isSupported: false)),
        Case("isochronous host", .unsupportedFeatureOrParameter, LESetHostFeature(bitNumber: 32, isSupported: true)),
        Case("subrating host", .success, LESetHostFeature(bitNumber: 38, isSupported: true)),
        Case(
            "advertising coding host",
            .unsupportedFeatureOrParameter,
            LESetHostFeature(bitNumber: 41, isSupported: true)
        ),
        Case("not the host's", .unsupportedFeatureOrParameter, LESetHostFeature(bitNumber: 8, isSupported: false)),
        Case("bit 64", .invalidParameters, LESetHostFeature(bitNumber: 64, isSupported: false)),
        Case("neither on nor off", .invalidParameters, raw: [0x74, 0x20, 2, 32, 2]),
        Case("host with room", .success, HostBufferSize(aclLength: 27, aclCount: 1)),
        Case("host without octets", .invalidParameters, HostBufferSize(aclLength: 0, aclCount: 1)),
        Case("host without packets", .invalidParameters, HostBufferSize(aclLength: 27, aclCount: 0)),
        Case("flow control off", .success, SetControllerToHostFlowControl(kinds: 0)),
        Case("flow control", .success, SetControllerToHostFlowControl(kinds: 1)),
        Case("of voice", .unsupportedFeatureOrParameter, SetControllerToHostFlowControl(kinds: 2)),
        Case("of both", .unsupportedFeatureOrParameter, SetControllerToHostFlowControl(kinds: 3)),
        Case("of what", .invalidParameters, SetControllerToHostFlowControl(kinds: 4)),
        Case("suggested 27", .success, LEWriteSuggestedDefaultDataLength(txOctets: 27, txTime: 328)),
        Case("suggested 17,040", .success, LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 17_040)),
        Case("17,041", .invalidParameters, LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 17_041)),
        Case("nothing to send with", .invalidParameters, LESetDefaultPHY(preference: [], txPHYs: [], rxPHYs: .le1M)),
        Case("nothing to hear", .invalidParameters, LESetDefaultPHY(preference: [], txPHYs: .le1M, rxPHYs: [])),
        Case("any", .success, LESetDefaultPHY(preference: .anyTransmitter, txPHYs: [], rxPHYs: .coded)),
        Case(
            "a PHY of a later version",
            .unsupportedFeatureOrParameter,
            LESetDefaultPHY(preference: [], txPHYs: .le1M, rxPHYs: .init(rawValue: 0x09))
        ),
        Case("no channel", .invalidParameters, LESetHostChannelClassification(channelMap: [0, 0, 0, 0, 0])),
        Case("one channel", .invalidParameters, LESetHostChannelClassification(channelMap: [0, 0, 0, 0, 0x10])),
        Case("all channels", .success, LESetHostChannelClassification(channelMap: [255, 255, 255, 255, 0x1F])),
        Case("channel 38", .invalidParameters, LESetHostChannelClassification(channelMap: [255, 255, 255, 255, 0x5F])),
        Case("accepting", .success, LEAddDeviceToFilterAcceptList(address: anybody)),
        Case("accepting the anonymous", .success, raw: [0x11, 0x20, 7, 0xFF, 1, 2, 3, 4, 5, 6]),
        Case("accepting type 4", .invalidParameters, raw: [0x11, 0x20, 7, 4, 1, 2, 3, 4, 5, 6]),
        Case("removing type 3", .invalidParameters, raw: [0x12, 0x20, 7, 3, 1, 2, 3, 4, 5, 6]),
        Case("removing an absent device", .success, LERemoveDeviceFromFilterAcceptList(address: anybody)),
    ]

    @Test(arguments: cases)
    func parameters(test: Case) {
        #expect(LinkLayerWorld().host().send(test.packet) == test.status)
    }

    /// Parameters of commands for an existing link.
    @Test func parametersOfLinks() throws {
        let pair = try Pair(interval: 80, latency: 3, timeout: 400)
        let (host, handle) = (pair.central, pair.centralHandle)
        func update(_ min: UInt16, _ max: UInt16, _ latency: UInt16 = 0, _ timeout: UInt16 = 300) -> HCIStatus {
            host.send(
                LEConnectionUpdate {
                    $0.handle = handle
                    $0.intervalMin = min
                    $0.intervalMax = max
                    $0.maxLatency = latency
                    $0.supervisionTimeout = timeout
                    $0.minCELength = 0
                    $0.maxCELength = 0
                }
            )
        }
        #expect(update(5, 24) == .invalidParameters)
        #expect(update(24, 3_201) == .invalidParameters)
        #expect(update(25, 24) == .invalidParameters)
        #expect(update(24, 24, 500, 3_200) == .invalidParameters)
        #expect(update(24, 24, 0, 9) == .invalidParameters)
        #expect(update(24, 24, 0, 3_201) == .invalidParameters)
        #expect(update(24, 24, 49, 300) == .invalidParameters, "3 s are not more than two times 50 intervals of 30 ms")
        #expect(update(24, 24, 49, 301) == .success)
        for code in UInt8.min...UInt8.max where ![0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(code) {
            #expect(host.send(Disconnect(handle: handle, reason: .init(rawValue: code))) == .invalidParameters)
        }
        func phy(_ tx: LEPHYs, _ rx: LEPHYs, _ option: UInt16 = 0) -> HCIStatus {
            host.setPHY(handle, tx, receiving: rx, .init(rawValue: option))
        }
        #expect(phy([], .le1M) == .invalidParameters)
        #expect(phy(.le1M, []) == .invalidParameters)
        #expect(phy(.init(rawValue: 0x11), .le1M) == .unsupportedFeatureOrParameter)
        #expect(phy(.coded, .coded, 3) == .invalidParameters)
        #expect(host.send(LESetDataLength(handle: handle, txOctets: 26, txTime: 328)) == .invalidParameters)
        #expect(host.send(LESetDataLength(handle: handle, txOctets: 27, txTime: 327)) == .invalidParameters)
        #expect(host.send(LESetDataLength(handle: handle, txOctets: 27, txTime: 17_041)) == .invalidParameters)
        // Four intervals of 100 ms: at least 400 ms, and it takes an encrypted link to have an effect.
        let payload = { host.send(WriteAuthenticatedPayloadTimeout(handle: handle, timeout: $0)) }
        #expect(payload(0) == .invalidParameters)
        #expect(payload(39) == .invalidParameters)
        #expect(payload(40) == .success)
        #expect(try host.read(ReadAuthenticatedPayloadTimeout(handle: handle)).timeout == 40)
        #expect(host.send(LESetHostFeature(bitNumber: 32, isSupported: false)) == .commandDisallowed)
        #expect(host.send(SetControllerToHostFlowControl(kinds: 1)) == .commandDisallowed)
        let refusal = LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .success)
        #expect(host.send(refusal) == .invalidParameters)
    }

    // The seven reasons allowed to a host end the link, and the peer receives the reason.
    @Test(arguments: [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B] as [UInt8])
    func reasonsToDisconnect(code: UInt8) throws {
        let pair = try Pair()
        #expect(pair.central.send(Disconnect(handle: pair.centralHandle, reason: .init(rawValue: code))) == .success)
        let again = Disconnect(handle: pair.centralHandle, reason: .remoteUserTerminated)
        #expect(pair.central.send(again) == .commandDisallowed)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.events(DisconnectionComplete.self).map(\.reason.rawValue) == [code])
        #expect(pair.central.send(again) == .unknownConnection)
    }

    @Test func aResetTakesEverythingBack() throws {
        let pair = try Pair(central: { $0.acceptListSize = 1 })
        let host = pair.central
        host.send(LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2_120))
        host.send(LEWriteRFPathCompensation(transmit: 5, receive: 6))
        host.send(LESetRandomAddress(address: BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)))
        host.send(LEAddDeviceToFilterAcceptList(address: Self.anybody))
        host.send(LESetHostChannelClassification(channelMap: [3, 0, 0, 0, 0]))
        host.send(LESetDefaultPHY(preference: [], txPHYs: .le1M, rxPHYs: .le1M))
        host.send(HostBufferSize(aclLength: 10, aclCount: 1))
        #expect(host.send(Reset()) == .success)
        #expect(host.controller.links.isEmpty)
        let suggested = try host.read(LEReadSuggestedDefaultDataLength())
        #expect((suggested.txOctets, suggested.txTime) == (27, 328))
        let path = try host.read(LEReadRFPathCompensation())
        #expect((path.transmit, path.receive) == (0, 0))
        #expect(host.controller.randomAddress == nil)
        #expect(host.controller.channelMap == .all)
        #expect(host.controller.linkTable.flow.room == .max)
        #expect(host.controller.linkTable.flow.length == 251)
        #expect(
            host.controller.defaults.phys == PHYPreferences(tx: [.le1M, .le2M, .coded], rx: [.le1M, .le2M, .coded])
        )
        // The list has space again, and the event masks have their initial values.
        #expect(host.send(LEAddDeviceToFilterAcceptList(address: .init(2, kind: .publicDevice))) == .success)
        #expect(host.controller.host.mask == .initial)
        #expect(host.controller.host.leMask == .initial)
    }

    // LE Rand draws from the controller's own source: different numbers each time, and the same ones for the same seed.
    @Test func randomNumbers() throws {
        func numbers() throws -> [UInt64] {
            let host = LinkLayerWorld(seed: 5).host()
            return try (0..<20).map { _ in try host.read(LERand()).number }
        }
        let first = try numbers()
        #expect(Set(first).count == 20)
        #expect(try numbers() == first)
    }
}
