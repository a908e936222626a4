import BluetoothTypes
import ControllerStandIns
import HCI
import Testing

@testable import HCIHost

@Suite struct BringUpTests {
    @Test func aControllerThatCanDoAllIsAskedForAll() throws {
        let bench = HostBench()
        bench.start(.milliseconds(100))
        let information = try #require(bench.information)
        #expect(
            bench.transport.commandNames == [
                "Reset", "Read Local Version Information", "Read Local Supported Commands",
                "Read Local Supported Features", "Read BD_ADDR", "Set Event Mask",
                "LE Read Local Supported Features Page 0", "Set Event Mask Page 2", "LE Set Event Mask",
                "LE Read Buffer Size [v2]", "Host Buffer Size", "Set Controller To Host Flow Control",
                "LE Read Supported States", "LE Read Filter Accept List Size", "LE Read Resolving List Size",
                "LE Read Maximum Data Length", "LE Write Suggested Default Data Length", "LE Read Transmit Power",
                "LE Read Maximum Advertising Data Length", "LE Read Number of Supported Advertising Sets",
            ]
        )
        #expect(bench.states == [.starting, .ready(information)])
        #expect(information.publicAddress?.description == "C0:FF:EE:00:00:01")
        #expect(information.version == .v5_4)
        #expect(information.companyIdentifier == 0x05F1)
        #expect(information.aclBufferSize == 251)
        #expect(information.aclBufferCount == 4)
        #expect(information.acceptListSize == 8)
        #expect(information.resolvingListSize == 7)
        #expect(information.maxTxOctets == 251)
        #expect(information.maxRxTime == 2_120)
        #expect(information.maxAdvertisingDataLength == 1_650)
        #expect(information.advertisingSets == 4)
        #expect(information.transmitPower == -20...8)
        #expect(information.supportsExtendedAdvertising)
        #expect(bench.controller.masks["event"] == 0x2000_8000_0200_8890)
        #expect(bench.controller.masks["page 2"] == 0x280_0000)
        #expect(bench.controller.masks["LE"] == 0x000F_1A7F)
        #expect(information.hostBuffers == HostBuffers())
        #expect(bench.host.counters == HCICounters())
    }

    @Test("AB-H08: the host learns a controller's place from the transport and not from the controller")
    func placesComeFromTheTransport() throws {
        let bench = HostBench()
        bench.transport.place = "tcp:127.0.0.1:6402"
        bench.start(.milliseconds(100))
        #expect(bench.information?.place == "tcp:127.0.0.1:6402")
        let snooping = SnoopingTransport(bench.transport, end: .host, loop: bench.loop) { _, _, _ in }
        #expect(snooping.place == "tcp:127.0.0.1:6402")
    }

    @Test(
        "data are fragmented to fit the transport, whatever the controller's buffers hold",
        arguments: [nil, 1_023, 200]
    )
    func dataFitsThroughTheLine(limit: Int?) throws {
        let bench = HostBench()
        bench.controller.bufferSize = 1_024
        bench.transport.maximumACLPayload = limit
        bench.start(.milliseconds(100))
        #expect(bench.information?.aclBufferSize == limit ?? 1_024)
    }

    @Test func aControllerOfVersion40IsAskedForWhatItKnows() throws {
        let bench = HostBench()
        bench.controller.version = .v4_0
        bench.controller.leFeatures = [.encryption]
        bench.controller.bufferSize = 27
        bench.controller.commands = SupportedCommands([
            Disconnect.self, SetEventMask.self, Reset.self, ReadLocalVersionInformation.self,
            ReadLocalSupportedFeatures.self, ReadBDADDR.self, LESetEventMask.self, LEReadBufferSize.self,
            LEReadLocalSupportedFeatures.self, LEReadFilterAcceptListSize.self,
        ])
        bench.start(.milliseconds(100))
        let information = try #require(bench.information)
        #expect(
            bench.transport.commandNames == [
                "Reset", "Read Local Version Information", "Read Local Supported Commands",
                "Read Local Supported Features", "Read BD_ADDR", "Set Event Mask",
                "LE Read Local Supported Features Page 0", "LE Set Event Mask", "LE Read Buffer Size",
                "LE Read Filter Accept List Size",
            ]
        )
        #expect(bench.controller.masks["LE"] == 0x1F)
        #expect(information.aclBufferSize == 27)
        #expect(information.maxTxOctets == 27)
        #expect(information.maxAdvertisingDataLength == 31)
        #expect(information.advertisingSets == nil)
        #expect(!information.supportsExtendedAdvertising)
    }

    @Test func extendedCommandsAreUsedOnlyWhenAllOfThemAreThere() throws {
        let bench = HostBench.up()
        let information = try #require(bench.information)
        #expect(information.supportsExtendedAdvertising)
        for command in ControllerInformation.extendedCommands {
            var without = information
            var commands = information.supportedCommands
            commands.remove(command)
            without.apply(ReadLocalSupportedCommands.Response(commands: commands))
            #expect(!without.supportsExtendedAdvertising, "\(command.name)")
        }
        var without = information
        let features = information.leFeatures.subtracting(.extendedAdvertising)
        without.apply(LEReadLocalSupportedFeatures.Response(features: features))
        #expect(!without.supportsExtendedAdvertising)
        without = information
        without.apply(LEReadNumberOfSupportedAdvertisingSets.Response(0))
        #expect(!without.supportsExtendedAdvertising)
    }

    private static let extendedQuestions = [
        "LE Read Maximum Advertising Data Length", "LE Read Number of Supported Advertising Sets",
    ]

    @Test("a controller driven with the legacy commands gets no extended one after its reset, not even a query")
    func noExtendedCommandComesBeforeLegacyOnes() throws {
        let bench = HostBench.up()
        let information = try #require(bench.information)
        bench.host.memory.note(.legacyCommands, of: information)
        #expect(bench.host.renew { _ in })
        bench.run(.milliseconds(100))
        let again = try #require(bench.information)
        #expect(bench.transport.commandNames.first == "Reset")
        #expect(bench.transport.commandNames.count > 10)
        #expect(bench.transport.commandNames.allSatisfy { !Self.extendedQuestions.contains($0) })
        #expect(again.advertisingSets == nil)
        #expect(again.maxAdvertisingDataLength == 31)
        #expect(again.claimsExtendedAdvertising)
        #expect(!again.supportsExtendedAdvertising)
    }

    @Test("a controller whose command list leaves only the legacy ones gets no extended one, despite the feature bit")
    func aFeatureWithoutItsCommandsIsNotAskedAbout() {
        let bench = HostBench()
        bench.controller.commands.remove(LESetExtendedScanResponseData.self)
        bench.start(.milliseconds(100))
        #expect(bench.information?.supportsExtendedAdvertising == false)
        #expect(bench.transport.commandNames.allSatisfy { !Self.extendedQuestions.contains($0) })
    }

    @Test("a controller that reports zero advertising sets is reset before legacy commands, and not queried again")
    func aControllerWithoutSetsIsResetOnceMore() throws {
        let bench = HostBench()
        let opcode = LEReadNumberOfSupportedAdvertisingSets.opcode
        let none = LEReadNumberOfSupportedAdvertisingSets.Response(0).encoded()
        bench.controller.reaction = { asked in
            guard asked == opcode else { return .answer }
            return .packets([HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: none))])
        }
        bench.start(.milliseconds(100))
        let information = try #require(bench.information)
        #expect(information.advertisingSets == 0)
        #expect(!information.supportsExtendedAdvertising)
        let last = try #require(bench.transport.commandNames.lastIndex(of: "Reset"))
        #expect(bench.transport.commandNames.count { $0 == "Reset" } == 2)
        #expect(bench.transport.commandNames[last...].allSatisfy { !Self.extendedQuestions.contains($0) })
        #expect(bench.states == [.starting, .ready(information)])
    }

    static let eventsOfFeatures: [(LEFeatures, LEEventMask)] = [
        ([], []), ([.encryption], [.longTermKeyRequest]),
        ([.connectionParametersRequest], [.remoteConnectionParameterRequest]),
        ([.dataLengthExtension], [.dataLengthChange]), ([.privacy], [.enhancedConnectionComplete]),
        ([.extendedScannerFilterPolicies], [.directedAdvertisingReport]), ([.phy2M], [.phyUpdateComplete]),
        ([.phyCoded], [.phyUpdateComplete]), ([.channelSelectionAlgorithm2], [.channelSelectionAlgorithm]),
        (
            [.extendedAdvertising],
            [
                .enhancedConnectionComplete, .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
                .scanRequestReceived,
            ]
        ),
        ([.periodicAdvertising], [.periodicSyncEstablished, .periodicReport, .periodicSyncLost]),
        ([.periodicSyncTransferRecipient], [.periodicSyncTransferReceived]),
        ([.connectionSubrating], [.subrateChange]),
        ([.periodicResponsesScanner], [.periodicSyncEstablishedV2, .periodicReportV2]),
        (
            [.periodicResponsesScanner, .periodicSyncTransferRecipient],
            [
                .periodicSyncEstablishedV2, .periodicReportV2, .periodicSyncTransferReceived,
                .periodicSyncTransferReceivedV2,
            ]
        ),
        ([.periodicResponsesAdvertiser], [.periodicSubeventDataRequest, .periodicResponseReport]),
        // The host does not enable events it has no use for.
        ([.connectedIsochronousCentral, .powerControlRequest, .periodicSyncTransferSender], []),
    ]

    @Test("only events that the host handles and the controller supports are enabled", arguments: eventsOfFeatures)
    func onlyEventsOfUseAreAskedFor(features: LEFeatures, events: LEEventMask) {
        let bench = HostBench()
        bench.controller.leFeatures = features
        bench.up()
        let always: LEEventMask = [
            .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
        ]
        #expect(LEEventMask(rawValue: bench.controller.masks["LE"] ?? 0) == always.union(events))
        #expect(bench.controller.masks["page 2"] == (features.contains(.encryption) ? 0x200_0000 : 0))
        // Every enabled event has a type that can decode it.
        for bit in 0..<64 where bench.controller.masks["LE"].map({ $0 >> UInt64(bit) & 1 == 1 }) ?? false {
            #expect(HCIEventRegistry.type(for: .leMeta, subevent: LESubevent(rawValue: UInt8(bit + 1))) != nil)
        }
    }

    // Encryption Change [v2] was added in version 5.3.
    @Test(arguments: [(SpecificationVersion.v5_2, 0x80_0000), (.v5_3, 0x280_0000)] as [(SpecificationVersion, UInt64)])
    func theSizeOfTheKeyIsAskedForWhereItCanBeTold(version: SpecificationVersion, mask: UInt64) {
        let bench = HostBench()
        bench.controller.version = version
        bench.controller.leFeatures = [.encryption, .ping]
        bench.up()
        #expect(bench.controller.masks["page 2"] == mask)
        #expect(
            bench.controller.masks["event"].map { $0 >> 7 & 1 } == 1,
            "the first version, for a controller without the second"
        )
    }

    @Test func aControllerWithBREDRIsToldOfLEAndMayShareItsBuffers() throws {
        let bench = HostBench()
        bench.controller.features = [.leController, .simultaneousLEAndBREDR]
        (bench.controller.bufferSize, bench.controller.bufferCount) = (0, 0)
        bench.start(.milliseconds(100))
        let information = try #require(bench.information)
        #expect(bench.transport.commandNames.contains("Write LE Host Support"))
        #expect(bench.transport.commandNames.contains("Read Buffer Size"))
        #expect(information.aclBufferSize == 1_021)
        #expect(information.aclBufferCount == 5)
    }

    static let optional: [any HCICommand.Type] = [
        ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self, ReadLocalSupportedFeatures.self,
        ReadBDADDR.self, SetEventMaskPage2.self, HostBufferSize.self, SetControllerToHostFlowControl.self,
        LEReadBufferSizeV2.self, LEReadSupportedStates.self,
        LEReadFilterAcceptListSize.self, LEReadResolvingListSize.self, LEReadMaximumDataLength.self,
        LEWriteSuggestedDefaultDataLength.self, LEReadTransmitPower.self, LEReadMaximumAdvertisingDataLength.self,
        LEReadNumberOfSupportedAdvertisingSets.self,
    ]

    @Test(arguments: optional.map { $0.opcode })
    func optionalCommandsMayBeRefused(opcode: Opcode) {
        for reaction in [
            ScriptedController.Reaction.refuse(.unknownCommand),
            .packets([HCIPacket(CommandStatus(status: .unknownCommand, credits: 1, opcode: opcode))]),
        ] {
            let bench = HostBench()
            bench.controller.reaction = { $0 == opcode ? reaction : .answer }
            bench.start(.milliseconds(100))
            #expect(bench.information != nil)
        }
    }

    static let needed: [any HCICommand.Type] = [
        Reset.self, SetEventMask.self, LESetEventMask.self, LEReadLocalSupportedFeatures.self,
    ]

    @Test(arguments: needed.map { $0.opcode })
    func requiredCommandsMustNotBeRefused(opcode: Opcode) {
        let bench = HostBench()
        bench.controller.reaction = { $0 == opcode ? .refuse(.commandDisallowed) : .answer }
        bench.start(.milliseconds(100))
        #expect(bench.error == .commandRefused(opcode, .commandDisallowed))
        #expect(bench.error?.layer == .controller)
        #expect(bench.error?.status == .commandDisallowed)
        bench.controller.reaction = { _ in .answer }
        bench.start(.milliseconds(100))
        #expect(bench.information != nil)
    }

    @Test(
        "impossible buffer sizes are clamped, at worst to one packet of the length every controller supports (quirk 14)"
    )
    func buffersThatCannotBeAreClamped() {
        let bench = HostBench()
        bench.controller.bufferSize = 26
        bench.start(.milliseconds(100))
        #expect(bench.information?.aclBufferSize == 27)
        bench.host.stop()
        bench.controller.bufferSize = .max
        bench.start(.milliseconds(100))
        #expect(bench.information?.aclBufferSize == 251)
        bench.host.stop()
        bench.controller.reaction = { opcode in
            [LEReadBufferSizeV2.opcode, LEReadBufferSize.opcode, ReadBufferSize.opcode].contains(opcode)
                ? .refuse(.unknownCommand) : .answer
        }
        bench.start(.milliseconds(100))
        #expect(bench.information?.aclBufferSize == 27)
        #expect(bench.information?.aclBufferCount == 1)
    }

    @Test("AB-H06: a controller that is silent fails the bring-up after the time for a reset")
    func aSilentControllerFailsAfterTheTimeForAReset() {
        let bench = HostBench()
        bench.controller.reaction = { _ in .silence }
        bench.host.start()
        bench.run(.seconds(9))
        #expect(bench.host.state == .starting)
        bench.run(.seconds(2))
        #expect(bench.error == .commandTimedOut(Reset.opcode))
        #expect(bench.transport.commandNames == ["Reset"])
    }

    @Test("AB-H06: a controller that falls silent is reset and then given up")
    func oneThatFallsSilentIsResetAndThenGivenUp() {
        let bench = HostBench()
        bench.controller.reaction = { $0 == ReadBDADDR.opcode ? .silence : .answer }
        bench.host.start()
        bench.run(.seconds(30))
        #expect(bench.error == .resetTooOften(cause: .commandTimedOut(ReadBDADDR.opcode)))
        #expect(bench.transport.commandNames.filter { $0 == "Reset" }.count == 1 + HCIHost.maximumResets)
        #expect(bench.host.counters.resets == HCIHost.maximumResets)
    }

    @Test("AB-H06: a controller that answers only other commands counts as silent")
    func oneThatAnswersOtherCommandsIsSilent() {
        let bench = HostBench()
        bench.controller.reaction = { opcode in
            .packets([
                HCIPacket(CommandComplete(credits: 1, opcode: Opcode(rawValue: opcode.rawValue + 1), parameters: [0]))
            ])
        }
        bench.host.start()
        bench.run(.seconds(11))
        #expect(bench.error == .commandTimedOut(Reset.opcode))
        #expect(bench.host.counters.unexpectedAnswers == 1)
    }

    @Test("AB-H02: garbage instead of answers fails the bring-up")
    func garbageInPlaceOfAnswersFailsTheBringUp() {
        for length in 0..<4 {
            let bench = HostBench()
            let whole: PacketBuffer = [0x01, 0x03, 0x0C, 0x00]
            bench.controller.reaction = { _ in
                .packets([
                    HCIPacket(.event, []), HCIPacket(.event, [0x0E]), HCIPacket(.event, [0x0E, 0xFF, 1]),
                    HCIPacket(.command, [0x03, 0x0C, 0x00]), HCIPacket(.acl, [1]), HCIPacket(.synchronous, [1, 2]),
                    HCIPacket(EventPacket(code: CommandComplete.eventCode, parameters: whole.prefix(upTo: length))),
                ])
            }
            bench.host.start()
            bench.run(.seconds(11))
            #expect(
                bench.error
                    == (length == 3
                        ? .malformedResponse(
                            Reset.opcode,
                            PacketError(.truncated(needed: 1, available: 0), at: "Status")
                        )
                        : .commandTimedOut(Reset.opcode))
            )
            #expect(bench.host.counters.malformed >= 4)
        }
    }

    @Test func aControllerOfNoOrderDoesNotUpsetTheBringUp() {
        // Events, data and answers from before the reset.
        let bench = HostBench()
        bench.host.start()
        bench.inject(HostBench.connectionComplete(0x40))
        bench.inject(HardwareError(code: 1))
        bench.inject(.acl, [0x40, 0x20, 1, 0, 0xAA])
        bench.inject(.event, [0xFF, 1, 2])
        bench.run(.milliseconds(100))
        #expect(bench.information != nil)
        #expect(bench.connections.isEmpty)
    }

    /// Until it answers the reset, a controller may still report the error that made the reset necessary.
    @Test("AB-H06: a hardware error before the reset is answered belongs to the time before the reset")
    func aHardwareErrorBeforeTheResetIsAnsweredIsOfTheTimeBefore() {
        let bench = HostBench()
        bench.controller.reaction = { $0 == Reset.opcode ? .silence : .answer }
        bench.host.start()
        bench.run(.seconds(1))
        for _ in 0..<10 { bench.inject(HardwareError(code: 1)) }
        #expect(bench.host.state == .starting)
        #expect(bench.host.counters.resets == 0)
        bench.controller.reaction = { _ in .answer }
        bench.controller.complete(Reset.opcode, StatusOnly().encoded())
        bench.run(.milliseconds(100))
        #expect(bench.information != nil)
        #expect(bench.transport.commandNames.count { $0 == "Reset" } == 1)
    }

    @Test func aLineThatIsGoneIsAFailureThatSaysWhy() {
        let bench = HostBench.up()
        bench.transport.onClose?(.closedByPeer)
        #expect(bench.error == .transport(.closedByPeer))
        #expect(bench.error?.layer == .transport)
        bench.host.start()
        #expect(bench.error == .transport(.closedByPeer))
    }
}

extension HCIPacket {
    /// Frames an event as it is.
    init(_ packet: EventPacket) {
        self.init(.event, packet.encoded())
    }
}
