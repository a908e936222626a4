import BluetoothTypes
import Foundation
import GAP
import L2CAP
import SMP
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Signs of broken good practices that only the service sees.
@Suite struct PracticeSignTests {
    /// Requests of a peer for connection parameters, by system version.
    private static func parameters(_ values: (UInt16, UInt16, UInt16, UInt16)) -> ConnectionParameters {
        ConnectionParameters(
            intervalMinimum: values.0,
            intervalMaximum: values.1,
            latency: values.2,
            timeout: values.3
        )
    }

    private enum Sign: Equatable {
        /// The parameters, as the explanation begins.
        case parametersRefused(String)
        case noServiceChanged
    }

    /// The signs that a system gives while a test runs.
    private final class Signs {
        private(set) var all: [Sign] = []

        init(of system: BluetoothSystem) {
            system.observers.add(.practices) { [unowned self] in
                switch $0.content {
                case .practiced(.parametersRefused(let explanation)):
                    all.append(.parametersRefused(explanation.components(separatedBy: ", because")[0]))
                case .practiced(.noServiceChanged): all.append(.noServiceChanged)
                default: break
                }
            }
        }
    }

    @Test("behaviour 12.28: parameters that a peer requests against the rules are a sign, others are none")
    func refusedParameters() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let link = try #require(pair.phone.system.links.all.first)
        let signs = Signs(of: pair.phone.system)
        let right = Self.parameters((24, 48, 0, 600))
        let wrong = Self.parameters((24, 48, 0, 1_801))
        #expect(link.link.parameterPolicy(right))
        #expect(signs.all == [])
        #expect(!link.link.parameterPolicy(wrong))
        #expect(signs.all == [.parametersRefused("interval 30 to 60 ms, latency 0, timeout 18010 ms")])
    }

    @Test(
        "behaviour 12.28: the shortest, the slowest and the most patient parameters that the rules accept are no sign",
        arguments: [(12, 12, 0, 600), (12, 24, 30, 1_800), (1_596, 1_608, 1, 1_800), (24, 36, 30, 600)]
    )
    func parametersAtTheLimits(values: (UInt16, UInt16, UInt16, UInt16)) throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let link = try #require(pair.phone.system.links.all.first)
        let signs = Signs(of: pair.phone.system)
        #expect(link.link.parameterPolicy(Self.parameters(values)))
        #expect(signs.all == [])
    }

    @Test("behaviour 12.28: what an older system or an input device may request is no sign, and one for all others")
    func parametersOfOthers() throws {
        // A supervision timeout of 2 s, which was right up to the guidelines R24.
        let short = Self.parameters((24, 48, 0, 200))
        let sign = Sign.parametersRefused("interval 30 to 60 ms, latency 0, timeout 2000 ms")
        for version in [17, 18] as [SystemVersion] {
            let pair = try ConnectedPair(configure: { $0.version = version })
            _ = try pair.connected()
            let link = try #require(pair.phone.system.links.all.first)
            let signs = Signs(of: pair.phone.system)
            #expect(link.link.parameterPolicy(short) == (version == 17))
            #expect(signs.all == (version == 17 ? [] : [sign]))
        }
        // The interval of 11.25 ms of a keyboard.
        let fast = Self.parameters((9, 9, 0, 600))
        for isKeyboard in [true, false] {
            let bench = try AccessoryBench()
            if isKeyboard { try bench.accessory.publish(0x1812) }
            bench.accessory.advertise()
            let peer = try bench.central.find(TestAccessory.service).identifier
            try bench.central.connect(peer)
            bench.world.run(.seconds(2))
            let link = try #require(bench.phone.links.all.first)
            let signs = Signs(of: bench.phone)
            #expect(link.link.parameterPolicy(fast) == isKeyboard)
            let sign = Sign.parametersRefused("interval 11.25 ms, latency 0, timeout 6000 ms")
            #expect(signs.all == (isKeyboard ? [] : [sign]))
        }
    }

    @Test("behaviour 12.28: a central that requests the same parameters of this device as its peripheral is no sign")
    func parametersOfACentral() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let link = try #require(pair.strap.system.links.all.first)
        let signs = Signs(of: pair.strap.system)
        _ = link.link.parameterPolicy(Self.parameters((24, 48, 0, 1_801)))
        #expect(signs.all == [])
    }

    /// A phone whose app is connected to an accessory, with the signs from the beginning.
    private final class Bench {
        let air = RadioWorld()
        let phone: BluetoothSystem
        let accessory: TestAccessory
        let central: TestManager
        let signs: Signs
        let peer: UUID
        private let person = Agreeable()

        init(tellsOfChanges: Bool) throws {
            phone = air.system("Phone")
            phone.peers.deviceSecurity.prompter = person
            signs = Signs(of: phone)
            accessory = try TestAccessory(on: air, tellsOfChanges: tellsOfChanges, bonds: try air.bonds(3))
            accessory.access.deviceSecurity.prompter = person
            try accessory.publish()
            accessory.advertise()
            central = air.world.manager(.central, on: phone)
            peer = try central.find(TestAccessory.service).identifier
            try connect(central)
        }

        func connect(_ manager: TestManager) throws {
            try manager.connect(peer)
            _ = try manager.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services)
        }

        func bond() {
            phone.links.all.first?.link.secureLink.pair { _ in }
            air.world.run(.seconds(3))
            #expect(phone.links.all.first?.secureLink.bond != nil)
        }
    }

    /// A bonded peer whose services may change needs the characteristic. One that is not bonded is asked again.
    @Test(
        "behaviour 12.26: a bonded peer without Service Changed is a sign; a peer that has it, or no bond, is none",
        arguments: [true, false],
        [true, false]
    )
    func noServiceChanged(isBonded: Bool, tellsOfChanges: Bool) throws {
        let bench = try Bench(tellsOfChanges: tellsOfChanges)
        bench.air.world.run(.seconds(3))
        if isBonded { bench.bond() }
        bench.accessory.links.first?.terminate()
        bench.air.world.run(.seconds(1))
        #expect(bench.signs.all == (isBonded && !tellsOfChanges ? [.noServiceChanged] : []))
    }

    private enum End: CaseIterable {
        case cancelled, forgotten, closed, processEnded, switchedOff
    }

    @Test(
        "behaviour 12.26: there is one sign for a connection, also if it is the app that ends the connection, or ends",
        arguments: End.allCases
    )
    private func noServiceChangedUntil(_ end: End) throws {
        let bench = try Bench(tellsOfChanges: false)
        bench.bond()
        switch end {
        case .cancelled: bench.central.send(.cancelConnection(peer: bench.peer))
        case .forgotten: bench.central.send(.central(.peer(bench.peer, .forget)))
        case .closed: bench.central.close()
        case .processEnded: bench.central.connection.happened(.ended(.crashed))
        case .switchedOff: bench.phone.controllers.setPower(false)
        }
        bench.air.world.run(.seconds(1))
        #expect(bench.phone.links.all.isEmpty)
        #expect(bench.signs.all == [.noServiceChanged])
    }

    @Test("behaviour 12.26: each connection to a bonded peer has a sign, and each app that shares its link")
    func noServiceChangedAgain() throws {
        let bench = try Bench(tellsOfChanges: false)
        bench.bond()
        let other = bench.air.world.manager(.central, on: bench.phone)
        try bench.connect(other)
        #expect(bench.signs.all.count == 2)
        for manager in [bench.central, other] { manager.send(.cancelConnection(peer: bench.peer)) }
        bench.air.world.run(.seconds(1))
        #expect(bench.phone.links.all.isEmpty)
        bench.accessory.advertise()
        try bench.connect(bench.central)
        bench.air.world.run(.seconds(3))
        #expect(bench.signs.all.count == 3)
    }
}
