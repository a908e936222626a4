import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// The supervision timer around every change of a link: at its instant, or where the peer acknowledges it (Core Vol 6
/// Part B 4.5.2, 5.1.1, 5.1.2, 5.1.7, 5.1.10, 5.1.19).
@Suite struct SupervisionTests {
    /// A procedure that changes the link.
    enum Change: Hashable {
        case update
        case parameterRequest(byCentral: Bool)
        case phy(byCentral: Bool)
        case channelMap
        case subrate(byCentral: Bool)

        /// Whether the procedure changes the interval and the supervision timeout at an instant.
        var isTimed: Bool {
            switch self {
            case .update, .parameterRequest: true
            case .phy, .channelMap, .subrate: false
            }
        }
    }

    /// When the two devices cannot hear each other, seen from the instant.
    enum Gap: CaseIterable {
        case none
        /// From the event before the instant on.
        case fromTheInstant
        /// From the event before the instant until one event is left before the link is lost.
        case upToTheLastEvent
        /// From when both know of the change on.
        case fromTheStart
        /// From when both know of the change until one event is left before the link is lost.
        case fromTheStartToTheLastEvent

        var isEarly: Bool { self == .fromTheStart || self == .fromTheStartToTheLastEvent }
        var ends: Bool { self == .upToTheLastEvent || self == .fromTheStartToTheLastEvent }
    }

    struct Case: Hashable, Sendable, CustomTestStringConvertible {
        var change: Change
        var old: LinkTiming
        var new: LinkTiming

        var testDescription: String { "\(change): \(Self.text(old)) to \(Self.text(new))" }

        private static func text(_ timing: LinkTiming) -> String {
            "\(timing.interval)/\(timing.latency)/\(timing.timeout)"
        }
    }

    /// The limits of a timing: the shortest and the longest interval and timeout, the largest latency, and the shortest
    /// timeout that each of them allows.
    private static let limits = [
        LinkTiming(interval: 6, latency: 0, timeout: 10), LinkTiming(interval: 6, latency: 499, timeout: 751),
        LinkTiming(interval: 24, latency: 0, timeout: 3_200), LinkTiming(interval: 800, latency: 0, timeout: 800),
        LinkTiming(interval: 3_200, latency: 0, timeout: 801), LinkTiming(interval: 3_200, latency: 2, timeout: 3_200),
    ]

    static let cases: [Case] = {
        let all = limits.flatMap { old in limits.map { Case(change: .update, old: old, new: $0) } }
        let turned = zip(limits, limits.dropFirst() + limits.prefix(1))
        let requests = [true, false].flatMap { byCentral in
            turned.map { Case(change: .parameterRequest(byCentral: byCentral), old: $0, new: $1) }
        }
        let others = [Change.phy(byCentral: true), .phy(byCentral: false), .channelMap].flatMap { change in
            limits.map { Case(change: change, old: $0, new: $0) }
        }
        return all + requests + others
    }()

    @Test("a link ends the supervision timeout after its last reset, which a change at an instant is", arguments: cases)
    func aChangeAtAnInstant(change: Case) throws {
        for gap in Gap.allCases {
            let link = try SupervisedLink(change)
            try link.start()
            let expected = try link.pass(gap)
            link.check(expected, "\(gap)")
        }
    }

    // The subrating changes where the PDU and its acknowledgement arrive, which are receptions of their own.
    @Test(
        "a change of the subrating lets the new timeout count from the PDU that applied it",
        arguments: [true, false],
        [
            (LinkTiming(interval: 6, latency: 0, timeout: 3_200), 2, 10),
            (.init(interval: 6, latency: 0, timeout: 10), 6, 10),
            (.init(interval: 24, latency: 0, timeout: 72), 500, 3_001),
            (.init(interval: 3_200, latency: 0, timeout: 3_200), 3, 2_401),
        ] as [(LinkTiming, UInt16, UInt16)]
    )
    func aChangeOfTheSubrating(byCentral: Bool, limit: (old: LinkTiming, factor: UInt16, timeout: UInt16)) throws {
        for ends in [false, true] {
            let new = LinkTiming(interval: limit.old.interval, latency: 0, timeout: limit.timeout)
            let link = try SupervisedLink(.init(change: .subrate(byCentral: byCentral), old: limit.old, new: new))
            let applied = try link.subrate(factor: limit.factor)
            link.part()
            let deadline = applied + new.timeoutDuration
            let used = new.intervalDuration * Int(limit.factor)
            if ends { link.meet(at: deadline - used * 5 / 4) }
            link.check(ends ? nil : deadline, "ends: \(ends)")
        }
    }

    @Test("the timer is reset at the start of the transmit window, with the offset that the central chose")
    func theOffsetOfTheWindow() throws {
        let world = LinkLayerWorld()
        let victim = world.host()
        let attacker = Attacker(world)
        victim.advertise()
        attacker.connect(to: victim)
        let pdu = LinkControlTests.update {
            ($0.windowOffset, $0.interval, $0.timeout, $0.instant) = (100, 400, 110, 10)
        }
        attacker.payloads = [(3, Array(pdu))]
        #expect(world.run(upTo: .seconds(2)) { victim.controller.links.first?.control.pending != nil })
        let link = try #require(victim.controller.links.first)
        attacker.node.position = Position(x: 100_000)
        let instant = link.anchor + .microseconds(Int64(10 - link.counter) * 30_000)
        world.run(.seconds(5))
        #expect(victim.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
        let end = try #require(victim.packets.last).at
        let deadline = instant + .milliseconds(125 + 1_100)
        #expect(end >= deadline)
        #expect(end <= deadline + SupervisedLink.slack)
    }

    // If the interval stays, so does the subrate factor (Core Vol 4 Part E 7.8.18).
    @Test("a timeout that allows no two used events of a subrated link is rejected")
    func aTimeoutBelowTwoUsedEvents() throws {
        let link = try SupervisedLink(.init(change: .subrate(byCentral: true), old: .usual, new: .usual))
        _ = try link.subrate(factor: 10)
        let (pair, central) = (link.pair, link.pair.central)
        // 30 ms, of which every tenth event is used: two of them take 600 ms.
        #expect(central.update(pair.centralHandle, interval: 24...24, timeout: 60) == .invalidParameters)
        #expect(central.update(pair.centralHandle, interval: 24...24, timeout: 61) == .success)
        pair.world.run(.seconds(6))
        #expect(central.events(LEConnectionUpdateComplete.self).last?.supervisionTimeout == 61)
        // Another interval ends the subrating.
        #expect(central.update(pair.centralHandle, interval: 40...40, timeout: 11) == .success)
        pair.world.run(.seconds(20))
        #expect(pair.centralLink?.control.subrate.factor == 1)
        #expect(pair.peripheralLink?.control.timing == LinkTiming(interval: 40, latency: 0, timeout: 11))
    }

    @Test("of two changes that exclude each other, requested at once, the second is reported as failed")
    func changesThatExcludeEachOther() throws {
        for isSubrateFirst in [true, false] {
            let link = try SupervisedLink(.init(change: .subrate(byCentral: true), old: .usual, new: .usual))
            let (pair, central) = (link.pair, link.pair.central)
            central.send(LEReadRemoteFeatures(handle: pair.centralHandle))
            pair.world.run(.seconds(1))
            let subrate = link.request(factor: 10, timeout: 72)
            let changes = [
                { central.send(subrate) },
                { central.update(pair.centralHandle, interval: isSubrateFirst ? 24...24 : 80...80, timeout: 30) },
            ]
            for change in isSubrateFirst ? changes : changes.reversed() { #expect(change() == .success) }
            pair.world.run(.seconds(20))
            #expect(central.events(DisconnectionComplete.self).isEmpty)
            let statuses = (
                central.events(LESubrateChange.self).map(\.status),
                central.events(LEConnectionUpdateComplete.self).map(\.status)
            )
            #expect(statuses.0 == [isSubrateFirst ? .success : .invalidParameters])
            #expect(statuses.1 == [isSubrateFirst ? .invalidParameters : .success])
        }
    }
}

extension LinkTiming {
    fileprivate static let usual = LinkTiming(interval: 24, latency: 0, timeout: 72)
}

/// A link whose ends lose sight of each other around a change.
private struct SupervisedLink {
    /// How much later than its deadline a link may end: with the event in progress, whose receive window is wide after
    /// a long silence.
    static let slack = Duration.milliseconds(4)

    let change: SupervisionTests.Case
    let pair: Pair

    init(_ change: SupervisionTests.Case) throws {
        self.change = change
        let world = LinkLayerWorld()
        func configure(_ configuration: inout VirtualControllerConfiguration) {
            configuration.clockAccuracy = .ppm20
            if change.change == .update { configuration.features.remove(.connectionParametersRequest) }
        }
        let (central, peripheral) = (world.host(configure), world.host(at: 1, configure))
        if case .subrate = change.change {
            for host in [central, peripheral] {
                host.send(LESetHostFeature(bitNumber: 38, isSupported: true))
                host.send(
                    LESetDefaultSubrate {
                        $0.subrateMin = 1
                        $0.subrateMax = 500
                        $0.maxLatency = 0
                        $0.continuation = 0
                        $0.supervisionTimeout = 3_200
                    }
                )
            }
        }
        pair = try Pair(
            world,
            central: central,
            peripheral: peripheral,
            interval: change.old.interval,
            latency: change.old.latency,
            timeout: change.old.timeout
        )
        let isEstablished = world.run(upTo: .seconds(30)) { [pair] in pair.peripheralLink?.isEstablished ?? false }
        try #require(isEstablished)
        world.run(change.old.intervalDuration * 2)
    }

    private var links: [Link] { [pair.centralLink, pair.peripheralLink].compactMap(\.self) }

    // MARK: Changes

    /// Requests the change, and runs until both ends wait for its instant.
    func start() throws {
        let (new, central, peripheral) = (change.new, pair.central, pair.peripheral)
        let status: HCIStatus
        switch change.change {
        case .update, .parameterRequest(byCentral: true): status = update(central, pair.centralHandle, new)
        case .parameterRequest(byCentral: false): status = update(peripheral, pair.peripheralHandle, new)
        case .phy(byCentral: true): status = setPHY(central, pair.centralHandle)
        case .phy(byCentral: false): status = setPHY(peripheral, pair.peripheralHandle)
        case .channelMap: status = central.send(LESetHostChannelClassification(channelMap: [0xFF, 0, 0, 0, 0]))
        case .subrate: status = .unspecifiedError
        }
        #expect(status == .success)
        let isPending = pair.world.run(upTo: .seconds(200)) { [self] in
            links.count == 2 && links.allSatisfy { $0.control.pending != nil }
        }
        try #require(isPending)
        // The event in which both know of it ends.
        pair.world.run(change.old.intervalDuration / 2)
    }

    private func update(_ host: TestHost, _ handle: ConnectionHandle, _ timing: LinkTiming) -> HCIStatus {
        host.update(
            handle,
            interval: timing.interval...timing.interval,
            latency: timing.latency,
            timeout: timing.timeout
        )
    }

    private func setPHY(_ host: TestHost, _ handle: ConnectionHandle) -> HCIStatus {
        host.setPHY(handle, .le2M)
    }

    func request(factor: UInt16, timeout: UInt16, byCentral: Bool = true) -> LESubrateRequest {
        LESubrateRequest {
            $0.handle = byCentral ? pair.centralHandle : pair.peripheralHandle
            $0.parameters.subrateMin = factor
            $0.parameters.subrateMax = factor
            $0.parameters.maxLatency = 0
            $0.parameters.continuation = 0
            $0.parameters.supervisionTimeout = timeout
        }
    }

    /// Changes the subrating, and runs until both ends use it.
    ///
    /// - Returns: When the central received the acknowledgement.
    func subrate(factor: UInt16) throws -> Instant {
        guard case .subrate(let byCentral) = change.change else { return pair.world.loop.now }
        let host = byCentral ? pair.central : pair.peripheral
        pair.central.send(LEReadRemoteFeatures(handle: pair.centralHandle))
        if !byCentral {
            pair.peripheral.send(LEReadRemoteFeatures(handle: pair.peripheralHandle))
        }
        pair.world.run(change.old.intervalDuration * 10)
        #expect(host.send(request(factor: factor, timeout: change.new.timeout, byCentral: byCentral)) == .success)
        let isApplied = pair.world.run(upTo: .seconds(200)) { [self] in
            links.count == 2
                && links.allSatisfy { $0.control.subrate.factor == factor && $0.control.timing == change.new }
        }
        try #require(isApplied)
        return try #require(pair.centralLink).lastReception
    }

    // MARK: Silence

    /// Moves the ends out of each other's range.
    func part() { pair.peripheral.controller.node.position = Position(x: 100_000) }

    /// Moves the ends back into range at an instant.
    func meet(at instant: Instant) {
        let node = pair.peripheral.controller.node
        pair.world.loop.schedule(at: instant) { node.position = Position(x: 1) }
    }

    /// Lets a gap pass, of which the instant is known.
    ///
    /// - Returns: When the link is to end; nil if it is to stay.
    func pass(_ gap: SupervisionTests.Gap) throws -> Instant? {
        let central = try #require(pair.centralLink)
        let pending = try #require(central.control.pending)
        let ahead = Int(pending.instant &- central.counter)
        let instant = central.anchor + change.old.intervalDuration * ahead
        guard gap != .none else {
            pair.world.loop.run(until: instant)
            return nil
        }
        if !gap.isEarly {
            // In the middle between two events.
            let start = instant - change.old.intervalDuration * 3 / 2
            if start > pair.world.loop.now { pair.world.loop.run(until: start) }
        }
        part()
        let last = max(central.lastReception, try #require(pair.peripheralLink).lastReception)
        let oldDeadline = last + change.old.timeoutDuration
        let isReset = change.change.isTimed && oldDeadline > instant
        let deadline = isReset ? instant + change.new.timeoutDuration : oldDeadline
        guard gap.ends else { return deadline }
        // The last event that begins before the deadline.
        let interval = isReset ? change.new.intervalDuration : change.old.intervalDuration
        let anchor = isReset ? instant : central.anchor
        let events = max(0, (deadline.nanoseconds(since: anchor) - 1) / interval.nanoseconds)
        meet(at: anchor + interval * Int(events) - interval / 2)
        return nil
    }

    /// Runs, and checks that both ends lose the link at an instant, or keep it.
    func check(_ deadline: Instant?, _ comment: String) {
        let world = pair.world
        let longest = max(change.old.timeoutDuration, change.new.timeoutDuration)
        world.loop.run(until: (deadline ?? world.loop.now + longest) + longest)
        for host in [pair.central, pair.peripheral] {
            let ends = host.packets.filter {
                (try? EventPacket(reading: $0.packet.bytes))?.code == DisconnectionComplete.eventCode
            }
            #expect(
                host.events(DisconnectionComplete.self).map(\.reason) == (deadline == nil ? [] : [.connectionTimeout]),
                "\(comment), \(change.testDescription)"
            )
            guard let deadline, let end = ends.first?.at else { continue }
            // The two ends have heard each other last within the same event.
            #expect(end >= deadline - .milliseconds(1), "\(comment), \(change.testDescription)")
            #expect(end <= deadline + Self.slack, "\(comment), \(change.testDescription)")
        }
    }
}
