import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// Rules of the control procedures that concern more than one PDU (Core Vol 6 Part B 2.4.2, 5.1, 5.3, 5.5).
@Suite struct ControlProcedureTests {
    private typealias Machine = LinkControl

    private func machine(_ role: LinkRole, features: LEFeatures? = nil) -> LinkControl {
        LinkControlTests.machine(role, features: features ?? VirtualController.supportedFeatures)
    }

    private func sent(_ actions: [LinkControl.Action]) -> [ControlPDU] {
        actions.compactMap { if case .send(let pdu) = $0 { pdu } else { nil } }
    }

    // MARK: Requests that wait for the peer's procedure

    @Test("a request that waits for the peer's parameter request starts when the host declines it")
    func aDeclinedRequestLetsTheNextOneStart() throws {
        var machine = machine(.central)
        _ = machine.receive(ControlPDU.connectionParameterRequest(LinkControlTests.validRequest).encoded())
        #expect(machine.request(.phy(tx: .le2M, rx: .le2M)) == [])
        let declined = machine.decline(.unsupportedRemoteFeature)
        let actions = try #require(declined)
        #expect(sent(actions).last == .phyRequest(.init(tx: .le2M, rx: .le2M)))
    }

    @Test("a request that waits for encryption starts when the host has no key")
    func aMissingKeyLetsTheNextRequestStart() throws {
        var machine = machine(.peripheral)
        _ = machine.receive(ControlPDU.encryptionRequest(.init()).encoded())
        #expect(machine.request(.ping) == [])
        let answered = machine.answer(key: nil)
        let actions = try #require(answered)
        #expect(sent(actions).last == .pingRequest)
    }

    // MARK: Instants (5.5.1)

    // An instant 32,767 events or more away, modulo 65,536, has passed. The current event has not passed.
    @Test(
        "AB-L04: an instant in the past ends the link, and one in the future is kept",
        arguments: [0, 1, 100, 32_766, 32_767, 32_768, 65_535] as [UInt16],
        [0, 40_000, 65_530] as [UInt16]
    )
    func instantsPastAndToCome(ahead: UInt16, counter: UInt16) {
        var machine = LinkControlTests.machine(.peripheral, counter: counter)
        let actions = machine.receive(
            ControlPDU.channelMap(.init(map: .init(bits: 7), instant: counter &+ ahead)).encoded()
        )
        switch ahead {
        case 0: #expect(actions == [.applyChannelMap(.init(bits: 7))])
        case ..<32_767:
            #expect(actions.isEmpty)
            #expect(machine.begin(counter: counter &+ ahead) == [.applyChannelMap(.init(bits: 7))])
        default: #expect(actions == [.end(.instantPassed)])
        }
        #expect(machine.pending == nil)
    }

    // A connection update that arrives in the event of its own instant: the anchor point just received is the new one.
    @Test func theInstantMayBeTheEventThatRuns() throws {
        var machine = machine(.peripheral)
        let actions = machine.receive(
            LinkControlTests.update { ($0.instant, $0.interval, $0.windowOffset, $0.timeout) = (100, 40, 7, 300) }
        )
        guard case .applyTiming(let pdu)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect((pdu.windowOffset, pdu.windowSize, pdu.interval) == (0, 0, 40))
        #expect(actions.last == .report(.parameters(.success)))
        #expect(machine.timing.interval == 40)
    }

    // At least six events ahead, and beyond the events that a sleeping peripheral skips (5.1.1).
    @Test(arguments: [0, 4, 499] as [UInt16])
    func ownInstantsAreFarEnoughAhead(latency: UInt16) throws {
        var machine = LinkControlTests.machine(.central, latency: latency)
        let actions = machine.request(.channelMap(.init(bits: 7))) ?? []
        guard case .channelMap(let pdu)? = sent(actions).first else {
            Issue.record("\(actions)")
            return
        }
        #expect(pdu.instant == 100 + latency + 6)
    }

    // MARK: Malformed, unknown and unsupported PDUs (2.4.2)

    private static let respondingTrain: PeriodicSyncIndication = {
        var pdu = PeriodicSyncIndication()
        pdu.responses = ResponseTiming()
        return pdu
    }()

    /// A well-formed PDU of every known type.
    static let pdus: [ControlPDU] = [
        .connectionUpdate(.init()), .channelMap(.init()), .terminate(.init()), .unknown(.init()),
        .featureRequest(.init()), .featureResponse(.init()), .version(.init()), .reject(.init()),
        .peripheralFeatureRequest(.init()), .connectionParameterRequest(.init()), .connectionParameterResponse(.init()),
        .rejectExtended(.init()), .pingRequest, .pingResponse, .lengthRequest(.init()), .lengthResponse(.init()),
        .phyRequest(.init()), .phyResponse(.init()), .phyUpdate(.init()), .minimumUsedChannels(.init()),
        .clockAccuracyRequest(.init()), .clockAccuracyResponse(.init()), .encryptionRequest(.init()),
        .encryptionResponse(.init()), .startEncryptionRequest, .startEncryptionResponse, .pauseEncryptionRequest,
        .pauseEncryptionResponse, .subrateRequest(.init()), .subrateIndication(.init()), .periodicSync(.init()),
        .periodicSync(respondingTrain),
    ]

    @Test(arguments: pdus.indices, [LinkRole.central, .peripheral])
    func aWrongLengthIsAnsweredByLLUnknownRsp(index: Int, role: LinkRole) {
        let bytes = Self.pdus[index].encoded()
        let opcode = Self.pdus[index].opcode
        let expected: [LinkControl.Action] = opcode == .unknownRsp ? [] : [.send(.unknown(.init(opcode)))]
        for length in 1..<bytes.count {
            var machine = machine(role)
            #expect(machine.receive(bytes.prefix(upTo: length)) == expected, "\(length) of \(bytes.count)")
        }
        var machine = machine(role)
        #expect(machine.receive(PacketBuffer(Array(bytes) + [0])) == expected)
    }

    // Power control, isochronous channels, constant tones: the type is echoed.
    @Test(
        arguments: [
            0x1A, 0x1B, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x28, 0x29, 0x2B, 0xFF,
        ] as [UInt8]
    )
    func unknownPDUsAreEchoed(opcode: UInt8) {
        for role in [LinkRole.central, .peripheral] {
            var machine = machine(role)
            let pdu = PacketBuffer([opcode] + [UInt8](repeating: 1, count: 12))
            #expect(machine.receive(pdu) == [.send(.unknown(.init(.init(rawValue: opcode))))])
        }
        let clear: LEFeatures = [
            .powerControlRequest, .connectedIsochronousCentral, .connectedIsochronousPeripheral,
            .connectionCTERequest, .channelClassification,
        ]
        #expect(VirtualController.supportedFeatures.isDisjoint(with: clear))
    }

    @Test func withoutTheFeatureEncryptionIsRefused() {
        var features = VirtualController.supportedFeatures
        features.remove(.encryption)
        var machine = LinkControlTests.machine(.peripheral, features: features)
        let request = PacketBuffer([0x03] + [UInt8](repeating: 0, count: 22))
        #expect(
            machine.receive(request) == [.send(.rejectExtended(.init(.encReq, .unsupportedRemoteFeature)))]
        )
    }

    /// A device without the feature answers its PDU with LL_UNKNOWN_RSP.
    @Test(arguments: [
        ControlPDU.connectionParameterRequest(LinkControlTests.validRequest), .pingRequest, .lengthRequest(.init()),
        .phyRequest(.init(tx: .le2M, rx: .le2M)), .clockAccuracyRequest(.init(3)), .peripheralFeatureRequest(.init()),
        .minimumUsedChannels(.init(phys: .le1M, channels: 4)),
    ])
    func withoutTheFeatureItIsUnknown(pdu: ControlPDU) {
        var machine = machine(.central, features: [.extendedReject])
        #expect(machine.receive(pdu.encoded()) == [.send(.unknown(.init(pdu.opcode)))])
        var able = self.machine(.central)
        #expect(!sent(able.receive(pdu.encoded())).contains(.unknown(.init(pdu.opcode))))
    }

    // MARK: Procedures with a single exchange

    @Test func theVersionIsSentOnce() {
        var machine = machine(.central)
        let asked = machine.request(.version)
        #expect(asked.map { sent($0).count } == 1)
        _ = machine.receive(ControlPDU.unknown(.init(.versionInd)).encoded())
        #expect(machine.request(.version) == [.report(.version(.unsupportedRemoteFeature, .init()))])
        let theirs = VersionIndication(version: .v5_3, company: 7, subversion: 8)
        for _ in 0..<3 { #expect(sent(machine.receive(ControlPDU.version(theirs).encoded())).isEmpty) }
        #expect(machine.request(.version) == [.report(.version(.success, theirs))])
    }

    @Test func theClockAccuracyIsExchanged() {
        var asker = machine(.peripheral)
        var other = machine(.central)
        #expect(asker.request(.clockAccuracy) == [.send(.clockAccuracyRequest(.init(5)))])
        let answer = other.receive(ControlPDU.clockAccuracyRequest(.init(5)).encoded())
        #expect(answer == [.applyPeerAccuracy(.init(code: 5)), .send(.clockAccuracyResponse(.init(5)))])
        let done = asker.receive(ControlPDU.clockAccuracyResponse(.init(7)).encoded())
        #expect(done == [.applyPeerAccuracy(.init(code: 7)), .report(.clockAccuracy(.success, .init(code: 7)))])
        // Unsolicited responses and reserved accuracies are ignored.
        #expect(asker.receive(ControlPDU.clockAccuracyResponse(.init(1)).encoded()).isEmpty)
        #expect(
            other.receive(ControlPDU.clockAccuracyRequest(.init(8)).encoded())
                == [.send(.unknown(.init(.clockAccuracyReq)))]
        )
    }

    // MARK: Connection parameters request (5.1.7)

    @Test func theCentralAsksBeforeItTells() throws {
        var central = machine(.central)
        let asked = central.request(.parameters(LinkControlTests.validRequest)) ?? []
        guard case .connectionParameterRequest(let request)? = sent(asked).first else {
            Issue.record("\(asked)")
            return
        }
        #expect(request.referenceCounter == 100)
        #expect(central.awaitsPeer)
        // The peripheral prefers the lower half of the range.
        var answer = request
        answer.intervalMax = 30
        let told = central.receive(ControlPDU.connectionParameterResponse(answer).encoded())
        guard case .connectionUpdate(let update)? = sent(told).first else {
            Issue.record("\(told)")
            return
        }
        #expect((update.interval, update.timeout, update.instant) == (30, 300, 106))
        #expect(central.begin(counter: 106).last == .report(.parameters(.success)))
        #expect(central.timing.interval == 30)
        #expect(central.local == nil)
    }

    /// A peer that does not support the procedure gets an update instead; a peer that rejects it is left alone.
    @Test(arguments: [
        (ControlPDU.unknown(.init(.connectionParamReq)), true),
        (.rejectExtended(.init(.connectionParamReq, .unsupportedRemoteFeature)), true),
        (.reject(.init(.unsupportedRemoteFeature)), true),
        (.rejectExtended(.init(.connectionParamReq, .unacceptableConnectionParameters)), false),
        (.reject(.init(.unspecifiedError)), false),
    ])
    func theCentralFallsBack(refusal: ControlPDU, tells: Bool) throws {
        var central = machine(.central)
        _ = central.request(.parameters(LinkControlTests.validRequest))
        let actions = central.receive(refusal.encoded())
        if tells {
            #expect(sent(actions).map(\.opcode) == [.connectionUpdateInd])
            #expect(central.local == .awaitingInstant)
        } else {
            #expect(sent(actions).isEmpty)
            guard case .report(.parameters(let error))? = actions.first else {
                Issue.record("\(actions)")
                return
            }
            #expect(error != .success)
            #expect(central.local == nil)
        }
    }

    @Test func aPeerWithoutTheFeatureIsNotAsked() throws {
        var central = machine(.central)
        _ = central.receive(ControlPDU.peripheralFeatureRequest(.init(.dataLengthExtension)).encoded())
        let told = central.request(.parameters(LinkControlTests.validRequest)) ?? []
        #expect(sent(told).map(\.opcode) == [.connectionUpdateInd])
        var peripheral = machine(.peripheral)
        _ = peripheral.receive(ControlPDU.featureRequest(.init(.dataLengthExtension)).encoded())
        let asked = peripheral.request(.parameters(LinkControlTests.validRequest))
        #expect(asked == [.report(.parameters(.unsupportedRemoteFeature))])
    }

    @Test func aBrokenResponseIsRefused() {
        var central = machine(.central)
        _ = central.request(.parameters(LinkControlTests.validRequest))
        let actions = central.receive(ControlPDU.connectionParameterResponse(.init()).encoded())
        #expect(
            actions == [
                .send(.rejectExtended(.init(.connectionParamRsp, .invalidLinkLayerParameters))),
                .report(.parameters(.invalidLinkLayerParameters)),
            ]
        )
    }

    // A request that matches the current parameters does not need the host (5.1.7.2).
    @Test func aRequestForWhatIsNeedsNoHost() {
        var request = ConnectionParameterRequest()
        (request.intervalMin, request.intervalMax, request.timeout) = (20, 30, 100)
        var peripheral = LinkControlTests.machine(.peripheral, asksHost: false)
        let answer = peripheral.receive(ControlPDU.connectionParameterRequest(request).encoded())
        #expect(sent(answer).map(\.opcode) == [.connectionParamRsp])
        var central = LinkControlTests.machine(.central, asksHost: false)
        let told = central.receive(ControlPDU.connectionParameterRequest(request).encoded())
        #expect(sent(told).map(\.opcode) == [.connectionUpdateInd])
        // Nothing changed, so the host gets no event.
        #expect(central.begin(counter: 106).contains(.report(.parameters(.success))) == false)
    }

    // MARK: Collisions (5.3)

    /// The central's procedure, and how the peer takes part in it before it breaks the rules.
    @Test("AB-L05: a peer that responds to a procedure may not begin another")
    func aPeerThatTookPartMayNotBeginAnother() {
        var central = machine(.central)
        _ = central.request(.phy(tx: .le2M, rx: .le2M))
        _ = central.receive(ControlPDU.phyResponse(.init(tx: .le2M, rx: .le2M)).encoded())
        #expect(
            central.receive(ControlPDU.connectionParameterRequest(LinkControlTests.validRequest).encoded())
                == [.end(.differentTransactionCollision)]
        )
        central = machine(.central)
        _ = central.request(.phy(tx: .le2M, rx: .le2M))
        _ = central.receive(ControlPDU.phyResponse(.init(tx: .le2M, rx: .le2M)).encoded())
        #expect(
            central.receive(ControlPDU.phyRequest(.init(tx: .le1M, rx: .le1M)).encoded())
                == [.end(.linkLayerProcedureCollision)]
        )
    }

    // LL_REJECT_EXT_IND is used only if both ends support it.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func refusalsAreUnderstood(isOwn: Bool, isPeers: Bool) {
        let all = VirtualController.supportedFeatures
        var central = machine(.central, features: isOwn ? all : all.subtracting(.extendedReject))
        let theirs = isPeers ? all : all.subtracting(.extendedReject)
        _ = central.receive(ControlPDU.peripheralFeatureRequest(.init(theirs)).encoded())
        let refusal = central.receive(ControlPDU.connectionParameterRequest(.init()).encoded())
        let error = HCIStatus.invalidLinkLayerParameters
        let expected: ControlPDU =
            isOwn && isPeers ? .rejectExtended(.init(.connectionParamReq, error)) : .reject(.init(error))
        #expect(sent(refusal) == [expected])
    }

    // The peripheral gives way: it responds to the central's procedure and accepts the rejection of its own.
    @Test("AB-L05: a peripheral gives way when procedures collide", arguments: [true, false])
    func thePeripheralGivesWay(isSame: Bool) {
        var peripheral = machine(.peripheral)
        _ = peripheral.request(.phy(tx: .le2M, rx: .le2M))
        let error: HCIStatus = isSame ? .linkLayerProcedureCollision : .differentTransactionCollision
        if isSame {
            let answer = peripheral.receive(ControlPDU.phyRequest(.init(tx: .le2M, rx: .le2M)).encoded())
            #expect(sent(answer).map(\.opcode) == [.phyRsp])
        } else {
            #expect(peripheral.receive(LinkControlTests.update { _ in }).isEmpty)
            #expect(peripheral.pending != nil)
        }
        let refused = peripheral.receive(ControlPDU.rejectExtended(.init(.phyReq, error)).encoded())
        #expect(refused == [.report(.phy(error))])
        #expect(peripheral.local == nil)
        if !isSame { #expect(peripheral.begin(counter: 110).first != nil) }
    }

    // Two changes with an instant cannot be pending at once.
    @Test("AB-L05: a second change while an instant is pending ends the link")
    func aSecondInstantEndsTheLink() {
        let map = ControlPDU.channelMap(.init(map: .all, instant: 120)).encoded()
        var peripheral = machine(.peripheral)
        _ = peripheral.receive(map)
        #expect(peripheral.receive(map) == [.end(.linkLayerProcedureCollision)])
        peripheral = machine(.peripheral)
        _ = peripheral.receive(map)
        #expect(
            peripheral.receive(ControlPDU.phyRequest(.init(tx: .le2M, rx: .le2M)).encoded())
                == [.end(.differentTransactionCollision)]
        )
    }

    // One procedure at a time: the next one waits for the response to the first.
    @Test func oneProcedureAtATime() throws {
        var central = machine(.central)
        _ = central.request(.features)
        for request in [LinkControl.Request.version, .clockAccuracy, .dataLength(octets: 100, time: 2_120)] {
            #expect(central.request(request) == [])
        }
        let order = [
            ControlPDU.featureResponse(.init(VirtualController.supportedFeatures)), .version(.init()),
            .clockAccuracyResponse(.init(2)),
        ].flatMap { sent(central.receive($0.encoded())) }
        #expect(order.map(\.opcode) == [.versionInd, .clockAccuracyReq, .lengthReq])
    }

    @Test func aNewerChannelMapTakesThePlaceOfTheOlder() throws {
        var central = machine(.central)
        _ = central.request(.features)
        for _ in 0..<LinkControl.maximumRequests { _ = central.request(.version) }
        for bits in 1...50 { #expect(central.request(.channelMap(.init(bits: UInt64(bits) << 2 | 3))) != nil) }
        #expect(central.requests.count == LinkControl.maximumRequests + 1)
        #expect(central.requests.last == .channelMap(.init(bits: 50 << 2 | 3)))
    }

    // The peer has 40 s for any response (5.2).
    @Test(arguments: [
        LinkControl.Request.features, .version, .clockAccuracy, .dataLength(octets: 251, time: 2_120),
        .phy(tx: .le2M, rx: .le2M), .parameters(LinkControlTests.validRequest),
    ])
    func theTimeOfThePeerRuns(request: LinkControl.Request) {
        for role in [LinkRole.central, .peripheral] {
            var machine = machine(role)
            #expect(!machine.awaitsPeer)
            _ = machine.request(request)
            #expect(machine.awaitsPeer)
            #expect(machine.timeout() == [.end(.linkLayerResponseTimeout)])
        }
    }
}
