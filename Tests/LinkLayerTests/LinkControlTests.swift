import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// The control procedures as a state machine, without a radio.
@Suite struct LinkControlTests {
    static func machine(
        _ role: LinkRole,
        counter: UInt16 = 100,
        asksHost: Bool = true,
        features: LEFeatures = VirtualController.supportedFeatures,
        latency: UInt16 = 0,
        acceptable: SubrateRequest = .initial
    ) -> LinkControl {
        let setup = LinkControl.Setup(
            role: role,
            features: features,
            version: .init(version: .v5_3, company: 1, subversion: 2),
            preferredPHYs: .init(tx: [.le1M, .le2M], rx: [.le1M, .le2M]),
            phys: [.le1M, .le2M, .coded],
            dataLength: DataLength(rxOctets: 251, rxTime: 17_040),
            accuracy: .init(code: 5),
            acceptableSubrate: acceptable,
            random: RandomSource(seed: 4),
            hostAnswersParameters: { asksHost },
            hostHasKeys: { asksHost }
        )
        var machine = LinkControl(setup, timing: .init(interval: 24, latency: latency, timeout: 100))
        _ = machine.begin(counter: counter)
        return machine
    }

    static func update(_ configure: (inout ConnectionUpdateIndication) -> Void) -> PacketBuffer {
        var pdu = ConnectionUpdateIndication()
        (pdu.windowSize, pdu.interval, pdu.timeout, pdu.instant) = (1, 24, 100, 110)
        configure(&pdu)
        return ControlPDU.connectionUpdate(pdu).encoded()
    }

    // AB-L04, and invalid windows as in AB-L03.
    @Test(
        "AB-L04: an impossible control PDU ends the link",
        arguments: [
            (update { $0.interval = 0 }, HCIStatus.invalidLinkLayerParameters),
            (update { $0.interval = 5 }, .invalidLinkLayerParameters),
            (update { $0.timeout = 0 }, .invalidLinkLayerParameters),
            (update { $0.latency = 500 }, .invalidLinkLayerParameters),
            (update { $0.latency = 400 }, .invalidLinkLayerParameters),
            (update { $0.windowSize = 0 }, .invalidLinkLayerParameters),
            (update { $0.windowSize = 24 }, .invalidLinkLayerParameters),
            (update { $0.windowOffset = 25 }, .invalidLinkLayerParameters),
            (update { $0.instant = 99 }, .instantPassed), (update { $0.instant = 100 &+ 32_768 }, .instantPassed),
            (update { $0.instant = 100 &+ 32_767 }, .instantPassed),
            (ControlPDU.channelMap(.init(map: .init(bits: 1), instant: 110)).encoded(), .invalidLinkLayerParameters),
            (ControlPDU.channelMap(.init(map: .init(bits: 0), instant: 110)).encoded(), .invalidLinkLayerParameters),
            (ControlPDU.channelMap(.init(map: .all, instant: 50)).encoded(), .instantPassed),
        ]
    )
    func invalidPDUsEndTheLink(pdu: PacketBuffer, reason: HCIStatus) {
        var machine = Self.machine(.peripheral)
        #expect(machine.receive(pdu) == [.end(reason)])
    }

    @Test("AB-L04: an instant may be as far away as the specification allows")
    func theInstantMayBeAsFarAsItCan() {
        var machine = Self.machine(.peripheral, counter: 65_000)
        #expect(machine.receive(Self.update { $0.instant = 65_000 &+ 32_766 }).isEmpty)
        #expect(machine.pending?.instant == 65_000 &+ 32_766)
    }

    @Test func aSecondChangeBeforeTheInstantEndsTheLink() {
        var machine = Self.machine(.peripheral)
        _ = machine.receive(Self.update { _ in })
        let second = ControlPDU.channelMap(.init(map: .all, instant: 120)).encoded()
        #expect(machine.receive(second) == [.end(.differentTransactionCollision)])
    }

    @Test(
        arguments: [
            (PacketBuffer([0x26, 1, 2]), 0x26), ([0x03], 0x03), ([0xFF], 0xFF), ([0x08], 0x08), ([0x02], 0x02),
            ([0x12, 0], 0x12), ([0x16, 1], 0x16),
        ] as [(PacketBuffer, UInt8)]
    )
    func unknownPDUsGetUnknownResponses(pdu: PacketBuffer, opcode: UInt8) {
        var machine = Self.machine(.central)
        #expect(machine.receive(pdu) == [.send(.unknown(.init(.init(rawValue: opcode))))])
    }

    @Test(arguments: [[], [0x07], [0x07, 1, 2]] as [PacketBuffer])
    func brokenAnswersAreNotAnswered(pdu: PacketBuffer) {
        var machine = Self.machine(.central)
        #expect(machine.receive(pdu).isEmpty)
    }

    @Test func pingIsAnswered() {
        var machine = Self.machine(.peripheral)
        #expect(machine.receive(ControlPDU.pingRequest.encoded()) == [.send(.pingResponse)])
    }

    /// Requests that only the other role may make.
    @Test(arguments: [
        (LinkRole.central, ControlPDU.featureRequest(.init([]))),
        (.peripheral, .peripheralFeatureRequest(.init([]))),
        (.central, .channelMap(.init(map: .all, instant: 110))),
    ])
    func theWrongRole(role: LinkRole, pdu: ControlPDU) {
        var machine = Self.machine(role)
        #expect(machine.receive(pdu.encoded()) == [.send(.unknown(.init(pdu.opcode)))])
    }

    @Test(
        "AB-L05: a flood of one request is answered and nothing accumulates",
        arguments: [
            ControlPDU.featureRequest(.init([])), .peripheralFeatureRequest(.init([])), .lengthRequest(.init()),
            .phyRequest(.init(tx: .le2M, rx: .le2M)), .connectionParameterRequest(.init()), .version(.init()),
            .connectionParameterRequest(validRequest), .pingRequest, .clockAccuracyRequest(.init(1)),
        ],
        [LinkRole.central, .peripheral]
    )
    func floodsChangeNothing(pdu: ControlPDU, role: LinkRole) {
        var machine = Self.machine(role)
        for _ in 0..<1_000 {
            let sent = machine.receive(pdu.encoded()).filter { if case .send = $0 { true } else { false } }
            #expect(sent.count <= 1)
        }
        #expect(machine.requests.isEmpty)
        #expect(role == .central || machine.pending == nil)
    }

    // AB-L05: the same while this device runs each of its own procedures. The link ends or goes on by the rules.
    @Test(
        "AB-L05: a flood of requests that cross our own accumulates nothing",
        arguments: [
            Request.features, .version, .dataLength(octets: 251, time: 2_120), .phy(tx: .le2M, rx: .le2M),
            .parameters(validRequest), .clockAccuracy, .channelMap(.init(bits: 7)),
        ],
        [LinkRole.central, .peripheral]
    )
    func crossingFloods(request: Request, role: LinkRole) {
        if role == .peripheral, case .channelMap = request { return }
        let random = RandomSource(seed: 9)
        for _ in 0..<200 {
            var machine = Self.machine(role)
            _ = machine.request(request)
            var counter: UInt16 = 100
            flood: for _ in 0..<50 {
                let pdu = ControlProcedureTests.pdus[Int(random.below(UInt64(ControlProcedureTests.pdus.count)))]
                for action in machine.receive(pdu.encoded()) {
                    if case .end = action { break flood }
                    if case .endAfterAnswer = action { break flood }
                }
                counter &+= 1
                _ = machine.begin(counter: counter)
                #expect(machine.requests.count <= LinkControl.maximumRequests + 1)
            }
        }
    }

    typealias Request = LinkControl.Request

    /// Section 5.3: how a central answers a peripheral's request while it runs a change of its own.
    @Test(
        "AB-L05: a central answers a colliding request by the rules",
        arguments: [
            (
                LinkControl.Request.phy(tx: .le2M, rx: .le2M), ControlPDU.phyRequest(.init(tx: .coded, rx: .coded)),
                HCIStatus.linkLayerProcedureCollision
            ),
            (.phy(tx: .le2M, rx: .le2M), .connectionParameterRequest(validRequest), .differentTransactionCollision),
            (.parameters(validRequest), .connectionParameterRequest(validRequest), .linkLayerProcedureCollision),
            (.parameters(validRequest), .phyRequest(.init(tx: .le2M, rx: .le2M)), .differentTransactionCollision),
            (.channelMap(.init(bits: 7)), .phyRequest(.init(tx: .le2M, rx: .le2M)), .differentTransactionCollision),
        ]
    )
    func collisionsAtTheCentral(request: LinkControl.Request, pdu: ControlPDU, error: HCIStatus) {
        var machine = Self.machine(.central)
        _ = machine.request(request)
        #expect(machine.receive(pdu.encoded()) == [.send(.rejectExtended(.init(pdu.opcode, error)))])
    }

    static let validRequest: ConnectionParameterRequest = {
        var pdu = ConnectionParameterRequest()
        (pdu.intervalMin, pdu.intervalMax, pdu.timeout) = (24, 40, 300)
        return pdu
    }()

    @Test(
        arguments: [
            ("timeout below 100 ms", 24, 40, 0, 9), ("minimum above the maximum", 40, 24, 0, 300),
            ("interval below 7.5 ms", 5, 24, 0, 300), ("interval above 4 s", 24, 3_201, 0, 300),
            ("latency above 499", 24, 40, 500, 300), ("timeout below two effective intervals", 24, 40, 100, 300),
        ] as [(String, UInt16, UInt16, UInt16, UInt16)]
    )
    func impossibleParametersAreRefused(fault: String, min: UInt16, max: UInt16, latency: UInt16, timeout: UInt16) {
        var machine = Self.machine(.central)
        var pdu = ConnectionParameterRequest()
        (pdu.intervalMin, pdu.intervalMax, pdu.latency, pdu.timeout) = (min, max, latency, timeout)
        #expect(
            machine.receive(ControlPDU.connectionParameterRequest(pdu).encoded())
                == [.send(.rejectExtended(.init(.connectionParamReq, .invalidLinkLayerParameters)))]
        )
    }

    // A central that requests instead of updating: request, the host's answer, response, update (Core Vol 6 Part B
    // 5.1.7).
    @Test func aPeripheralAnswersAParameterRequest() throws {
        var machine = Self.machine(.peripheral)
        let request = Self.validRequest
        let asked = machine.receive(ControlPDU.connectionParameterRequest(request).encoded())
        #expect(asked == [.report(.parameterRequest(request))])
        #expect(!machine.awaitsPeer)
        #expect(machine.accept(request) == [.send(.connectionParameterResponse(request))])
        #expect(machine.awaitsPeer)
        #expect(
            machine.receive(
                Self.update {
                    $0.interval = 40; $0.timeout = 300
                }
            ).isEmpty
        )
        #expect(machine.begin(counter: 109).isEmpty)
        let changed = machine.begin(counter: 110)
        #expect(changed.count == 2)
        #expect(changed.last == .report(.parameters(.success)))
        #expect(machine.timing.interval == 40)
        #expect(machine.remote == nil)
        #expect(machine.accept(request) == nil)
        #expect(machine.decline(.unspecifiedError) == nil)
    }

    @Test(arguments: [true, false])
    func aRefusalIsToldToTheHost(isExtended: Bool) {
        var machine = Self.machine(.peripheral)
        _ = machine.request(.phy(tx: .le2M, rx: .le2M))
        let refusal: ControlPDU =
            isExtended
            ? .rejectExtended(.init(.phyReq, .linkLayerProcedureCollision))
            : .reject(.init(.linkLayerProcedureCollision))
        #expect(machine.receive(refusal.encoded()) == [.report(.phy(.linkLayerProcedureCollision))])
        #expect(machine.local == nil)
        #expect(!machine.awaitsPeer)
    }

    @Test func requestsWaitForEachOtherUpToABound() {
        var machine = Self.machine(.central)
        let lengths = LinkControl.Request.dataLength(octets: 251, time: 2_120)
        let features = VirtualController.supportedFeatures.sentToPeer
        #expect(machine.request(.features) == [.send(.featureRequest(.init(features)))])
        for _ in 0..<LinkControl.maximumRequests { #expect(machine.request(lengths) == []) }
        #expect(machine.request(lengths) == nil)
        let response = ControlPDU.featureResponse(.init(.dataLengthExtension)).encoded()
        let sent = machine.receive(response).filter { if case .send = $0 { true } else { false } }
        #expect(sent.count == 1)
    }

    @Test func theFirstOctetOfFeaturesIsWhatBothCan() {
        var machine = Self.machine(.peripheral)
        let request = ControlPDU.featureRequest(.init([.extendedReject, .connectedIsochronousCentral])).encoded()
        guard case .send(.featureResponse(let response))? = machine.receive(request).first else {
            Issue.record("no response")
            return
        }
        let others = VirtualController.supportedFeatures.sentToPeer.rawValue & ~0xFF
        #expect(response.features.rawValue == others | LEFeatures.extendedReject.rawValue)
    }
}
