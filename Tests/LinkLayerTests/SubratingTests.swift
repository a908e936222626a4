import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Which connection events are used (Core Vol 6 Part B 4.5.1, 5.1.19).
@Suite struct SubratedEventTests {
    private func subrating(factor: UInt16, base: UInt16, near event: Int) -> SubratedEvents {
        var pdu = SubrateIndication()
        (pdu.factor, pdu.base) = (factor, base)
        return SubratedEvents(pdu, near: event)
    }

    private func events(_ step: (Int) -> Int, from event: Int, count: Int) -> [Int] {
        var found = [event]
        while found.count < count { found.append(found[found.count - 1] + step(found[found.count - 1])) }
        return found
    }

    @Test func centralsValuesApply() {
        var pdu = SubrateIndication()
        (pdu.factor, pdu.continuation) = (5, 4)
        let subrating = SubratedEvents(pdu, near: 0)
        #expect(subrating.factor == 5)
        #expect(subrating.continuation == 4)
    }

    // The example of 5.1.19, figure 5.5.
    @Test func whileThePeripheralDoesNotKnowBothAreUsed() {
        let old = subrating(factor: 5, base: 32, near: 42)
        let new = subrating(factor: 3, base: 38, near: 42)
        #expect(events({ old.distance(after: $0) }, from: 37, count: 5) == [37, 42, 47, 52, 57])
        #expect(events({ new.distance(after: $0) }, from: 44, count: 5) == [44, 47, 50, 53, 56])
        let both = events({ min(old.distance(after: $0), new.distance(after: $0)) }, from: 42, count: 8)
        #expect(both == [42, 44, 47, 50, 52, 53, 56, 57])
    }

    // The example of 5.1.19 for the wrap-around of all counters: 65522, 65532, 6, 16, 26.
    @Test func theSequenceGoesOnWhereTheCounterBeginsAnew() {
        let subrating = subrating(factor: 10, base: 12_002, near: 20_000)
        let used = events({ subrating.distance(after: $0) }, from: 65_522, count: 5).map {
            UInt16(truncatingIfNeeded: $0)
        }
        #expect(used == [65_522, 65_532, 6, 16, 26])
        // Queued before the wrap-around and received after it: the base lies before it.
        let late = self.subrating(factor: 10, base: 65_522, near: 65_536 + 6)
        #expect(late.distance(after: 65_536) == 6)
        #expect(late.distance(after: 65_542) == 10)
        // Queued after it: another phase.
        let other = self.subrating(factor: 10, base: 2, near: 65_536 + 6)
        #expect(other.distance(after: 65_536) == 2)
    }
}

/// The procedures as a state machine (5.1.19, 5.1.20).
@Suite struct SubrateProcedureTests {
    private let features = VirtualController.supportedFeatures.union(.connectionSubratingHost)

    private func machine(
        _ role: LinkRole,
        acceptable: SubrateRequest = .initial,
        features: LEFeatures? = nil,
        peer: LEFeatures? = nil
    ) -> LinkControl {
        var machine = LinkControlTests.machine(role, features: features ?? self.features, acceptable: acceptable)
        let exchange = FeatureExchange(peer ?? self.features)
        let pdu = role == .central ? ControlPDU.peripheralFeatureRequest(exchange) : .featureRequest(exchange)
        _ = machine.receive(pdu.encoded())
        return machine
    }

    private func request(
        _ factor: ClosedRange<UInt16> = 2...10,
        latency: UInt16 = 0,
        continuation: UInt16 = 0,
        timeout: UInt16 = 400
    ) -> SubrateRequest {
        .init(
            factorMin: factor.lowerBound,
            factorMax: factor.upperBound,
            maxLatency: latency,
            continuation: continuation,
            timeout: timeout
        )
    }

    private let acceptable = SubrateRequest(
        factorMin: 3,
        factorMax: 8,
        maxLatency: 2,
        continuation: 2,
        timeout: 500
    )

    @Test func theCentralTellsAndWaitsUntilThePeripheralKnows() {
        var machine = machine(.central)
        let actions = machine.request(.subrate(request(2...10, latency: 1, continuation: 30)))
        var pdu = SubrateIndication()
        (pdu.factor, pdu.base, pdu.latency, pdu.continuation, pdu.timeout) = (10, 100, 1, 9, 400)
        #expect(actions == [.send(.subrateIndication(pdu)), .announceSubrate(pdu)])
        #expect(machine.timing.timeout == 100)
        #expect(machine.subrate.factor == 1)
        var known = pdu
        known.base = 0
        #expect(machine.subrateAcknowledged() == [.applySubrate(pdu), .report(.subrate(.success, known))])
        #expect(machine.timing.timeout == 400)
        #expect(machine.timing.latency == 1)
        #expect(machine.local == nil)
        #expect(machine.subrateAcknowledged().isEmpty)
        // The central's last request is what it accepts from the peripheral from now on (5.1.20).
        #expect(machine.subrating.acceptable == request(2...10, latency: 1, continuation: 30))
    }

    @Test func thePeripheralAsksAndTakesWhatTheCentralDecides() {
        var machine = machine(.peripheral)
        #expect(machine.request(.subrate(request())) == [.send(.subrateRequest(request()))])
        #expect(machine.awaitsPeer)
        var pdu = SubrateIndication()
        (pdu.factor, pdu.base, pdu.timeout) = (5, 99, 400)
        var known = pdu
        known.base = 0
        let actions = machine.receive(ControlPDU.subrateIndication(pdu).encoded())
        #expect(actions == [.applySubrate(pdu), .report(.subrate(.success, known))])
        #expect(machine.local == nil)
        #expect(!machine.awaitsPeer)
        // The same parameters again are not reported, but the phase may differ.
        pdu.base = 98
        #expect(machine.receive(ControlPDU.subrateIndication(pdu).encoded()) == [.applySubrate(pdu)])
    }

    @Test(arguments: [
        ControlPDU.rejectExtended(.init(.subrateReq, .unsupportedRemoteFeature)), .unknown(.init(.subrateReq)),
        .reject(.init(.unsupportedRemoteFeature)),
    ])
    func aRefusalIsReported(pdu: ControlPDU) {
        var machine = machine(.peripheral)
        _ = machine.request(.subrate(request()))
        #expect(machine.receive(pdu.encoded()) == [.report(.subrate(.unsupportedRemoteFeature, .init()))])
        #expect(machine.local == nil)
    }

    /// The request and the agreed factor, latency, continuation number and timeout; empty for a rejection.
    private static let agreements: [(SubrateRequest, [UInt16])] = [
        (.init(factorMin: 2, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 400), [8, 0, 2, 400]),
        (.init(factorMin: 4, factorMax: 5, maxLatency: 2, continuation: 4, timeout: 500), [5, 2, 4, 500]),
        (.init(factorMin: 8, factorMax: 9, maxLatency: 1, continuation: 1, timeout: 300), [8, 1, 2, 300]),
        (.init(factorMin: 3, factorMax: 3, maxLatency: 0, continuation: 0, timeout: 400), [3, 0, 2, 400]),
        // The largest factor that allows two attempts: 30 ms times 7 times 2 is less than 430 ms.
        (.init(factorMin: 2, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 43), [7, 0, 2, 43]),
        (.init(factorMin: 8, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 43), []),
        (.init(factorMin: 1, factorMax: 2, maxLatency: 0, continuation: 0, timeout: 400), []),
        (.init(factorMin: 9, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 400), []),
        (.init(factorMin: 2, factorMax: 10, maxLatency: 3, continuation: 0, timeout: 400), []),
        (.init(factorMin: 2, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 501), []),
        // Invalid: no factor, too large, reversed, a continuation number without a bound, no timeout.
        (.init(factorMin: 0, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 400), []),
        (.init(factorMin: 2, factorMax: 501, maxLatency: 0, continuation: 0, timeout: 400), []),
        (.init(factorMin: 6, factorMax: 5, maxLatency: 0, continuation: 0, timeout: 400), []),
        (.init(factorMin: 2, factorMax: 10, maxLatency: 0, continuation: 10, timeout: 400), []),
        (.init(factorMin: 2, factorMax: 10, maxLatency: 0, continuation: 0, timeout: 9), []),
    ]

    @Test(arguments: agreements.indices)
    func theCentralAgreesWithinWhatBothWant(index: Int) {
        let (asked, agreed) = Self.agreements[index]
        var machine = machine(.central, acceptable: acceptable)
        let actions = machine.receive(ControlPDU.subrateRequest(asked).encoded())
        guard !agreed.isEmpty else {
            #expect(actions == [.send(.rejectExtended(.init(.subrateReq, .invalidLinkLayerParameters)))])
            return
        }
        var pdu = SubrateIndication()
        (pdu.factor, pdu.latency, pdu.continuation, pdu.timeout) = (agreed[0], agreed[1], agreed[2], agreed[3])
        pdu.base = 100
        #expect(actions == [.send(.subrateIndication(pdu)), .announceSubrate(pdu)])
        _ = machine.subrateAcknowledged()
        #expect(machine.remote == nil && machine.subrate.factor == agreed[0])
    }

    @Test func withoutItsHostACentralRefuses() {
        var machine = machine(.central, acceptable: acceptable, features: VirtualController.supportedFeatures)
        let actions = machine.receive(ControlPDU.subrateRequest(request()).encoded())
        #expect(actions == [.send(.rejectExtended(.init(.subrateReq, .unsupportedRemoteFeature)))])
    }

    @Test func aChangeThatIsUnderWayGoesFirst() {
        for other in [LinkControl.Request.channelMap(.init(bits: 7)), .phy(tx: .le2M, rx: .le2M)] {
            var machine = machine(.central, acceptable: acceptable)
            _ = machine.request(other)
            let actions = machine.receive(ControlPDU.subrateRequest(request()).encoded())
            #expect(actions == [.send(.rejectExtended(.init(.subrateReq, .differentTransactionCollision)))])
        }
    }

    @Test func withoutThePeersHostNothingIsAsked() {
        for role in [LinkRole.central, .peripheral] {
            var machine = machine(role, peer: VirtualController.supportedFeatures)
            let actions = machine.request(.subrate(request()))
            #expect(actions == [.report(.subrate(.unsupportedRemoteFeature, .init()))])
        }
    }

    @Test(
        "AB-L04: impossible subrate parameters end the link",
        arguments: [
            ("factor 0", 0, 0, 0, 400), ("factor above 500", 501, 0, 0, 3_200),
            ("factor times latency above 500", 10, 50, 0, 3_200), ("continuation not below the factor", 5, 0, 5, 400),
            ("timeout below 100 ms", 5, 0, 0, 9), ("timeout above 32 s", 5, 0, 0, 3_201),
            ("timeout of two effective intervals", 5, 0, 0, 30), ("maxima", UInt16.max, UInt16.max, 0, 400),
        ] as [(String, UInt16, UInt16, UInt16, UInt16)]
    )
    func invalidIndicationsEndTheLink(
        fault: String,
        factor: UInt16,
        latency: UInt16,
        continuation: UInt16,
        timeout: UInt16
    ) {
        var pdu = SubrateIndication()
        (pdu.factor, pdu.latency, pdu.continuation, pdu.timeout) = (factor, latency, continuation, timeout)
        var machine = machine(.peripheral)
        #expect(machine.receive(ControlPDU.subrateIndication(pdu).encoded()) == [.end(.invalidLinkLayerParameters)])
    }
}

/// Links that use fewer of their events.
@Suite struct SubratingTests {
    /// A link between hosts that both support subrating, with the features exchanged.
    private func pair(_ world: LinkLayerWorld = LinkLayerWorld(), interval: UInt16 = 24) throws -> Pair {
        let (central, peripheral) = (world.host(), world.host(at: 1))
        for host in [central, peripheral] {
            #expect(host.send(LESetHostFeature(bitNumber: 38, isSupported: true)) == .success)
            let range = LESetDefaultSubrate {
                $0.subrateMin = 1
                $0.subrateMax = 100
                $0.maxLatency = 3
                $0.continuation = 0
                $0.supervisionTimeout = 3_200
            }
            #expect(host.send(range) == .success)
        }
        let pair = try Pair(world, central: central, peripheral: peripheral, interval: interval)
        #expect(central.send(LEReadRemoteFeatures(handle: pair.centralHandle)) == .success)
        world.run(.milliseconds(500))
        return pair
    }

    private func request(
        _ handle: ConnectionHandle,
        _ factor: UInt16,
        latency: UInt16 = 0,
        continuation: UInt16 = 0,
        timeout: UInt16 = 3_200
    ) -> LESubrateRequest {
        .init {
            $0.handle = handle
            $0.parameters.subrateMin = factor
            $0.parameters.subrateMax = factor
            $0.parameters.maxLatency = latency
            $0.parameters.continuation = continuation
            $0.parameters.supervisionTimeout = timeout
        }
    }

    /// The number of PDUs that the central sends in this time.
    private func sent(_ pair: Pair, in time: Duration) -> Int {
        let before = pair.central.controller.node.airTime.framesSent
        pair.world.run(time)
        return pair.central.controller.node.airTime.framesSent - before
    }

    @Test(arguments: [true, false], [2, 7, 20] as [UInt16])
    func fewerEventsAreUsed(byCentral: Bool, factor: UInt16) throws {
        let pair = try pair()
        #expect((320...345).contains(sent(pair, in: .seconds(10))))
        let (host, handle) =
            byCentral ? (pair.central, pair.centralHandle) : (pair.peripheral, pair.peripheralHandle)
        #expect(host.send(request(handle, factor)) == .success)
        pair.world.run(.seconds(1))
        for end in [pair.central, pair.peripheral] {
            let changes = end.events(LESubrateChange.self)
            #expect(changes.map(\.status) == [.success])
            #expect(changes.map(\.factor) == [factor])
            #expect(changes.map(\.supervisionTimeout) == [3_200])
        }
        let expected = 10_000 / (30 * Int(factor))
        #expect(abs(sent(pair, in: .seconds(10)) - expected) <= 2)
        // Both ends use the same events: data arrive in both directions.
        pair.central.send([1, 2, 3], on: pair.centralHandle)
        pair.peripheral.send([4, 5, 6], on: pair.peripheralHandle)
        pair.world.run(.milliseconds(Int64(factor) * 30 * 2 + 100))
        #expect(pair.peripheral.data.count == 1)
        #expect(pair.central.data.count == 1)
        pair.world.run(.seconds(60))
        #expect(pair.centralLink != nil)
        #expect(pair.peripheralLink != nil)
    }

    @Test func withAContinuationMoreEventsFollowData() throws {
        let pair = try pair()
        pair.central.send(request(pair.centralHandle, 20, continuation: 10))
        pair.world.run(.seconds(2))
        // Without data: one event in twenty.
        #expect((16...18).contains(sent(pair, in: .seconds(10))))
        // More than one event can carry: without a continuation number, each event would take another 600 ms.
        for _ in 0..<12 { pair.central.send([UInt8](repeating: 7, count: 251), on: pair.centralHandle) }
        pair.world.run(.milliseconds(1_500))
        #expect(pair.peripheral.data.count >= 12)
        pair.world.run(.seconds(2))
        #expect((16...18).contains(sent(pair, in: .seconds(10))))
    }

    @Test func latencyIsCountedInEventsThatAreUsed() throws {
        let pair = try pair()
        pair.central.send(request(pair.centralHandle, 5, latency: 3))
        pair.world.run(.seconds(2))
        let before = pair.peripheral.controller.node.airTime.framesSent
        pair.world.run(.seconds(30))
        // One event in 5 times 4, of 30 ms: 50 in 30 s.
        #expect((48...52).contains(pair.peripheral.controller.node.airTime.framesSent - before))
        // The peripheral wakes up sooner when it has data, in an event that is used.
        let asked = pair.world.loop.now
        pair.peripheral.send([9], on: pair.peripheralHandle)
        #expect(pair.world.run(upTo: .seconds(2)) { pair.central.data.count == 1 })
        #expect(pair.world.loop.now - asked <= .milliseconds(160))
    }

    @Test(arguments: [true, false])
    func changesAtAnInstantComeAllTheSame(isMap: Bool) throws {
        let pair = try pair()
        pair.central.send(request(pair.centralHandle, 10))
        pair.world.run(.seconds(1))
        if isMap {
            #expect(
                pair.central.send(LESetHostChannelClassification(channelMap: ChannelMap(bits: 0xFF).octets)) == .success
            )
        } else {
            let phy = LESetPHY(
                handle: pair.centralHandle,
                preference: [],
                txPHYs: .le2M,
                rxPHYs: .le2M,
                codedOption: .noPreference
            )
            #expect(pair.central.send(phy) == .success)
        }
        pair.world.run(.seconds(10))
        let (central, peripheral) = (try #require(pair.centralLink), try #require(pair.peripheralLink))
        for link in [central, peripheral] {
            #expect(link.subrating.current.factor == 10)
            #expect(isMap ? link.hopping.map == ChannelMap(bits: 0xFF) : link.control.txPHY == .le2M)
        }
        pair.central.send([1], on: pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.count == 1)
    }

    // Core Vol 6 Part B 5.1.1.
    @Test func anotherIntervalEndsIt() throws {
        let pair = try pair()
        pair.central.send(request(pair.centralHandle, 10))
        pair.world.run(.seconds(1))
        pair.central.update(pair.centralHandle, interval: 40...40, timeout: 3_200)
        pair.world.run(.seconds(10))
        #expect(pair.central.events(LEConnectionUpdateComplete.self).map(\.interval) == [40])
        #expect((195...205).contains(sent(pair, in: .seconds(10))))
        #expect(pair.centralLink?.control.subrate.factor == 1)
        #expect(pair.peripheralLink?.subrating.current.factor == 1)
        pair.peripheral.send([1], on: pair.peripheralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.data.count == 1)
    }

    // The event counter wraps around after 65,536: at 7.5 ms that is after 492 s.
    @Test func itOutlastsAllCounters() throws {
        let pair = try pair(interval: 6)
        pair.central.send(request(pair.centralHandle, 7))
        pair.world.run(.seconds(520))
        #expect((pair.centralLink?.anchors.event ?? 0) > 65_536)
        #expect(pair.peripheralLink != nil)
        pair.central.send([1], on: pair.centralHandle)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheral.data.count == 1)
    }

    @Test func losses() throws {
        let world = LinkLayerWorld { $0.lossRate = 0.2 }
        let pair = try pair(world)
        pair.central.send(request(pair.centralHandle, 4))
        world.run(.seconds(5))
        #expect(
            pair.centralLink?.subrating.current == pair.peripheralLink?.subrating.current || pair.centralLink == nil
        )
        for number in 0..<16 { pair.central.send([UInt8(number)], on: pair.centralHandle) }
        world.run(.seconds(20))
        #expect(pair.peripheral.data.count == 16)
    }

    @Test func commandsThatCannotBe() throws {
        let pair = try pair()
        let handle = pair.centralHandle
        let cases: [(LESubrateRequest, HCIStatus)] = [
            (request(.init(rawValue: 0x0EFF), 5), .unknownConnection), (request(handle, 0), .invalidParameters),
            (request(handle, 501), .invalidParameters), (request(handle, 200, latency: 2), .invalidParameters),
            (request(handle, 5, continuation: 5), .invalidParameters),
            (request(handle, 5, timeout: 9), .invalidParameters),
            (request(handle, 5, timeout: 30), .invalidParameters), (request(handle, 5, timeout: 31), .success),
        ]
        for (command, status) in cases { #expect(pair.central.send(command) == status, "\(command)") }
        // Before the peer's features are known, or if its host does not support subrating.
        let strangers = try Pair()
        #expect(strangers.central.send(request(strangers.centralHandle, 5)) == .unsupportedRemoteFeature)
        strangers.central.send(LEReadRemoteFeatures(handle: strangers.centralHandle))
        strangers.world.run(.seconds(1))
        #expect(strangers.central.send(request(strangers.centralHandle, 5)) == .unsupportedRemoteFeature)
    }
}
