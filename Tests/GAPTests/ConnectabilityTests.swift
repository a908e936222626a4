import AccessStandIns
import BluetoothTypes
import HCI
import HCIHost
import Testing

@testable import GAP
@testable import Security

/// Connectability modes and connection establishment procedures (Core Vol 3 Part C 9.3), between two complete stacks.
@Suite struct ConnectabilityTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])

    /// An advertising device, another one that tries to connect to it, and the result.
    private struct Attempt {
        let device: GAPDevice
        let other: GAPDevice
        let role: Peripheral
        let central: Central
        var result: Result<AccessLink, GAPError>?
    }

    /// Lets one device advertise, by default directed at the other one, which connects.
    private func connect(
        _ mode: ControllerMode,
        _ advertised: Peripheral.Mode? = nil,
        within limit: Duration = .seconds(10),
        _ begin: (Central, BluetoothAddress, @escaping Central.Completion) -> Void = { central, peer, completion in
            central.connect(to: peer, within: .seconds(10), completion: completion)
        }
    ) throws -> Attempt {
        let world = GAPWorld(mode)
        let (device, other) = (world.device(), world.device())
        let role = Peripheral(device.access)
        if let advertised { role.enter(advertised) } else { device.advertise(directedAt: other.address) }
        let central = Central(other.access)
        var attempt = Attempt(device: device, other: other, role: role, central: central)
        begin(central, device.address) { attempt.result = $0 }
        world.run(for: limit + .seconds(1)) { attempt.result != nil }
        world.run(.milliseconds(200))
        return attempt
    }

    private func expectLink(_ attempt: Attempt, _ mode: ControllerMode) throws {
        let link = try #require(try attempt.result?.get())
        #expect(link.peer == attempt.device.address)
        #expect(link.connection.role == .central)
        #expect(attempt.device.links.map(\.peer) == [attempt.other.address])
        #expect(attempt.other.log.contains(LECreateConnection.self) == (mode == .legacy))
        #expect(attempt.other.log.contains(LEExtendedCreateConnection.self) == (mode == .extended))
    }

    // MARK: Modes

    private func expectNoConnection(_ mode: ControllerMode, _ discoverability: Peripheral.Discoverability) throws {
        let attempt = try connect(mode, .init(discoverability, .none, data: Self.data))
        #expect(throws: GAPError.timedOut) { try attempt.result?.get() }
        #expect(attempt.device.links.isEmpty)
    }

    @Test(
        "GAP/CONN/NCON/BV-01: a non-connectable device that is not discoverable accepts no connection",
        arguments: ControllerMode.allCases
    )
    func nonDiscoverable(mode: ControllerMode) throws {
        try expectNoConnection(mode, .none)
    }

    @Test(
        "GAP/CONN/NCON/BV-02: a non-connectable device that is general discoverable accepts no connection",
        arguments: ControllerMode.allCases
    )
    func generalDiscoverable(mode: ControllerMode) throws {
        try expectNoConnection(mode, .general)
    }

    private func expectUndirected(_ mode: ControllerMode, _ discoverability: Peripheral.Discoverability) throws {
        var end: AdvertisingEnd?
        let attempt = try connect(mode, .init(discoverability, .undirected, data: Self.data))
        try expectLink(attempt, mode)
        // The mode ends with the connection, and can be entered again.
        attempt.role.onEnded = { end = $0 }
        attempt.role.enter(.init(discoverability, .undirected, data: Self.data))
        #expect(try !attempt.other.hear(from: attempt.device.address).isEmpty)
        #expect(end == nil)
    }

    @Test(
        "GAP/CONN/UCON/BV-02: an undirected connectable device that is general discoverable accepts a central",
        arguments: ControllerMode.allCases
    )
    func undirectedAndGeneralDiscoverable(mode: ControllerMode) throws {
        try expectUndirected(mode, .general)
    }

    @Test(arguments: ControllerMode.allCases)
    func aConnectionEndsTheMode(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (device, other) = (world.device(), world.device())
        let role = Peripheral(device.access)
        var end: AdvertisingEnd?
        role.onEnded = { end = $0 }
        role.enter(.init(.general, .undirected, data: Self.data))
        let central = Central(other.access)
        var result: Result<AccessLink, GAPError>?
        central.connect(to: device.address) { result = $0 }
        world.run { result != nil && end != nil }
        #expect(end == .connected)
        #expect(try other.hear(from: device.address).isEmpty)
    }

    // MARK: Procedures

    private static let undirected = Peripheral.Mode(.general, .undirected, data: data)
    private static let nobody = BluetoothAddress(0xC0_0000_0000_09, kind: .randomDevice)

    @Test(
        "GAP/CONN/ACEP/BV-01: auto connection establishment reaches a directed advertiser",
        arguments: ControllerMode.allCases
    )
    func autoConnectionToADirectedAdvertiser(mode: ControllerMode) throws {
        let attempt = try connect(mode) {
            central,
            peer,
            completion in
            central.autoConnect(to: [Self.nobody, peer], within: .seconds(10), completion: completion)
        }
        try expectLink(attempt, mode)
        #expect(attempt.other.log.contains(LEAddDeviceToFilterAcceptList.self))
        #expect(attempt.other.access.connector.wanted.isEmpty)
    }

    @Test(
        "GAP/CONN/GCEP/BV-01: general connection establishment reaches a directed advertiser",
        arguments: ControllerMode.allCases
    )
    func generalConnectionToADirectedAdvertiser(mode: ControllerMode) throws {
        let attempt = try connect(mode) {
            central,
            peer,
            completion in
            central.generalConnect(within: .seconds(10), pick: { $0.address == peer }, completion: completion)
        }
        try expectLink(attempt, mode)
    }

    @Test(
        "GAP/CONN/GCEP/BV-02: general connection establishment reaches an undirected advertiser",
        arguments: ControllerMode.allCases
    )
    func generalConnectionToAnUndirectedAdvertiser(mode: ControllerMode) throws {
        let attempt = try connect(mode, Self.undirected) { central, _, completion in
            central.generalConnect(
                within: .seconds(10),
                pick: { $0.data.localName?.text == "Harald" },
                completion: completion
            )
        }
        try expectLink(attempt, mode)
    }

    @Test(
        "GAP/CONN/DCEP/BV-01: direct connection establishment reaches a directed advertiser",
        arguments: ControllerMode.allCases
    )
    func directConnectionToADirectedAdvertiser(mode: ControllerMode) throws {
        try expectLink(try connect(mode), mode)
    }

    @Test(
        "GAP/CONN/DCEP/BV-03: direct connection establishment reaches an undirected advertiser",
        arguments: ControllerMode.allCases
    )
    func directConnectionToAnUndirectedAdvertiser(mode: ControllerMode) throws {
        try expectLink(try connect(mode, Self.undirected), mode)
    }

    @Test func directConnectionToAnExtendedAdvertiser() throws {
        var mode = Self.undirected
        var options = AdvertisingConfiguration.ExtendedPackets()
        options.secondaryPHY = .le2M
        mode.packets = .extended(options)
        try expectLink(try connect(.extended, mode), .extended)
    }

    @Test(arguments: ControllerMode.allCases)
    func aProcedureThatIsCancelledIsOver(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (device, other) = (world.device(), world.device())
        let central = Central(other.access)
        var results: [GAPError?] = []
        let note: Central.Completion = { result in
            if case .failure(let error) = result { results.append(error) } else { results.append(nil) }
        }
        central.connect(to: device.address, completion: note)
        central.connect(to: device.address, completion: note)
        #expect(results == [.busy])
        world.run(.seconds(1))
        central.cancel()
        #expect(results == [.busy])
        world.run(.seconds(1))
        let role = Peripheral(device.access)
        role.enter(Self.undirected)
        world.run(.seconds(2))
        #expect(device.links.isEmpty)
        central.connect(to: device.address, completion: note)
        world.run { results.count == 2 }
        #expect(results.last == .some(nil))
    }

    @Test(
        "GAP/CONN/TERM/BV-01: a connection is terminated and both sides receive the reason",
        arguments: ControllerMode.allCases
    )
    func aConnectionIsTerminated(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        pair.centralLink.terminate()
        pair.world.run(.seconds(1))
        #expect(pair.central.endReasons == [.localHostTerminated])
        #expect(pair.peripheral.endReasons == [.remoteUserTerminated])
        #expect(pair.central.access.links.isEmpty)
        #expect(pair.peripheral.access.links.isEmpty)
        // The peripheral can terminate the link as well.
        let other = try LinkedPair(mode)
        other.peripheralLink.terminate()
        other.world.run(.seconds(1))
        #expect(other.central.endReasons == [.remoteUserTerminated])
    }

    @Test func withTheControllerEverythingIsOver() throws {
        let pair = try LinkedPair(.extended)
        var failure: GAPError?
        let central = Central(pair.central.access)
        central.connect(to: Self.nobody) { result in
            if case .failure(let error) = result { failure = error }
        }
        pair.world.run(.milliseconds(100))
        pair.central.access.stop()
        pair.world.run(.milliseconds(100))
        #expect(failure == .notReady)
        #expect(pair.central.access.state == .off)
        #expect(pair.central.access.links.isEmpty)
        #expect(pair.central.endReasons.count == 1)
    }
}
