import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// A phone and an advertising sensor. A central manager on the phone has discovered the sensor.
struct ConnectedPair {
    let world: ServiceWorld
    let phone: TestDevice
    let strap: TestDevice
    let central: TestManager
    let sensor: TestManager
    let peer: UUID

    init(_ service: LocalService = Example.heartRate, configure: (inout SystemConfiguration) -> Void = { _ in }) throws
    {
        world = ServiceWorld()
        phone = world.device("Phone", configure: configure)
        strap = world.device("Strap")
        central = phone.manager(.central)
        sensor = strap.manager(.peripheral)
        try sensor.publish(service)
        peer = try central.find(service.uuid).identifier
        sensor.take()
    }

    /// The pair once the central has connected.
    func linked() throws -> Self {
        try central.connect(peer)
        return self
    }

    func connected() throws -> [BluetoothUUID: AttributeHandle] {
        try central.connect(peer)
        return try central.explore(peer)
    }
}

@Suite struct AppConnectionTests {
    private let battery = Example.emptyBattery

    @Test("GAP/CONN/TERM/BV-01: a whole session from scan to disconnection")
    func aSessionFromScanToGoodbye() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        #expect(Set(handles.keys) == [Example.measurement, Example.location, Example.controlPoint, Example.note])
        let location = try #require(handles[Example.location])
        let value = try pair.central.ask(
            .readCharacteristic(peer: pair.peer, characteristic: location),
            "value",
            \.value
        )
        #expect(value == .success([1]))
        let end = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        #expect(end.error == nil)
        pair.world.run(.seconds(1))
        #expect(pair.strap.system.links.all.isEmpty)
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviours 3.9, 4.8: another app joins a link without traffic")
    func anotherAppJoinsTheLinkWithoutTraffic() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.world.run(.seconds(1))
        let packets = pair.phone.controller.dataPackets
        let other = pair.phone.manager(.central)
        try other.connect(pair.peer)
        let handles = try other.explore(pair.peer)
        #expect(handles.count == 4)
        #expect(pair.phone.system.links.all.count == 1)
        // Behaviour 4.8: apps share the attribute table, so nothing went on the air.
        #expect(pair.phone.controller.dataPackets == packets)
    }

    @Test("behaviour 3.10: a link ends with its last user")
    func theLinkEndsWithItsLastUser() throws {
        let pair = try ConnectedPair()
        let other = pair.phone.manager(.central)
        try pair.central.connect(pair.peer)
        try other.connect(pair.peer)
        pair.central.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().last?.disconnection != nil)
        #expect(pair.phone.system.links.all.count == 1)
        other.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.seconds(1))
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 3.11: the link lingers if it is configured to")
    func theLinkLingersIfConfigured() throws {
        let pair = try ConnectedPair(configure: { $0.linger = .seconds(5) }).linked()
        _ = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        pair.world.run(.seconds(4))
        #expect(pair.phone.system.links.all.count == 1)
        // An app that reconnects in time gets the existing link.
        try pair.central.connect(pair.peer)
        pair.central.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.milliseconds(4_900))
        #expect(pair.phone.system.links.all.count == 1)
        pair.world.run(.milliseconds(200))
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test(
        "behaviours 3.12, 3.38: a lost link is reported with its reason, even if the peer never noticed the link",
        arguments: [
            (HCIStatus.connectionTimeout, ServiceError.CoreCode.connectionTimeout),
            (.remoteUserTerminated, .peripheralDisconnected), (.remotePowerOff, .peripheralDisconnected),
            (.connectionFailedToBeEstablished, .peripheralDisconnected),
        ]
    )
    func aLostLinkHasAReason(status: HCIStatus, code: ServiceError.CoreCode) throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        // Behaviour 3.39: pending requests end with the disconnection event alone.
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: try #require(handles[Example.note])))
        pair.world.run(.milliseconds(50))
        pair.strap.controller.loseLinks(status)
        pair.world.run(.seconds(40))
        let events = pair.central.take()
        #expect(events.count == 1)
        #expect(events.first?.disconnection?.error?.code == .core(code))
        #expect(events.first?.disconnection?.error?.reason != nil)
    }

    @Test("behaviour 3.7: a pending connection can be cancelled")
    func aPendingConnectionIsCancelled() throws {
        let pair = try ConnectedPair()
        pair.strap.controller.isInRange = false
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        pair.world.run(.seconds(100))
        #expect(pair.central.take().isEmpty)
        #expect(pair.phone.controller.initiating?.count == 1)
        let end = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        #expect(end.error == nil)
        pair.world.run(.seconds(1))
        #expect(pair.phone.controller.initiating == nil)
    }

    @Test("behaviour 3.1: a pending connection is made whenever the peer appears")
    func aConnectionIsMadeWheneverThePeerComes() throws {
        let pair = try ConnectedPair()
        pair.strap.controller.isInRange = false
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        pair.world.run(.seconds(3_600))
        pair.strap.controller.isInRange = true
        _ = try pair.central.expect("connected", \.connection)
    }

    @Test("behaviour 3.16: the start of a connection can be delayed")
    func aStartCanBeDelayed() throws {
        let pair = try ConnectedPair()
        var options = ConnectOptions()
        options.startDelay = 10
        pair.central.send(.connect(peer: pair.peer, options: options))
        pair.world.run(.milliseconds(9_900))
        #expect(pair.central.take().isEmpty)
        pair.world.run(.seconds(1))
        #expect(pair.central.take().first?.connection != nil)
    }

    /// An app that cancels before the delay has passed gets only the end of the attempt.
    @Test("behaviours 3.16, 3.7: a delayed connection can be cancelled")
    func aDelayedStartIsCancelled() throws {
        let pair = try ConnectedPair()
        var options = ConnectOptions()
        options.startDelay = 10
        pair.central.send(.connect(peer: pair.peer, options: options))
        pair.world.run(.seconds(5))
        let end = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        #expect(end.error == nil)
        pair.world.run(.seconds(20))
        #expect(pair.central.take().isEmpty)
        #expect(pair.phone.system.links.all.isEmpty)
        #expect(pair.phone.controller.lastConnectionRequest == nil)
        // The first delay does not shorten the second.
        pair.central.send(.connect(peer: pair.peer, options: options))
        pair.world.run(.seconds(5))
        pair.phone.system.controllers.setPower(false)
        pair.phone.system.controllers.setPower(true)
        pair.world.run(.seconds(20))
        #expect(pair.central.take().compactMap(\.connection).isEmpty)
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 3.17: a lost link is re-established on request")
    func aLostLinkIsMadeAgainOnRequest() throws {
        let pair = try ConnectedPair()
        var options = ConnectOptions()
        options.reconnectsAutomatically = true
        _ = try pair.central.ask(.connect(peer: pair.peer, options: options), "connected", \.connection)
        // It reconnects every time.
        for _ in 1...3 {
            pair.strap.controller.loseLinks(.connectionTimeout)
            let end = try pair.central.expect("disconnected", \.disconnection)
            #expect(end.isReconnecting)
            #expect(end.error != nil)
            _ = try pair.central.expect("connected again", \.connection)
        }
        let last = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        #expect(!last.isReconnecting)
        pair.world.run(.seconds(10))
        #expect(pair.central.take().isEmpty)
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 3.5: releasing a peripheral ends its connection")
    func aPeripheralThatNobodyHoldsIsLetGo() throws {
        let pair = try ConnectedPair().linked()
        pair.central.send(.forget(peer: pair.peer))
        pair.world.run(.seconds(1))
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 13.6: a closed manager releases all its peripherals")
    func aManagerThatIsGoneLetsGoOfAll() throws {
        let pair = try ConnectedPair().linked()
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.central.close()
        pair.world.run(.seconds(1))
        #expect(pair.phone.system.links.all.isEmpty)
        #expect(!pair.phone.controller.isScanning)
        #expect(pair.central.take().isEmpty)
        pair.sensor.close()
        pair.world.run(.seconds(1))
        #expect(!pair.strap.controller.isAdvertising)
    }

    @Test("GAP/IDLE/NAMP/BV-01, behaviour 2.23: the device name is read with the connection")
    func theDeviceNameComesWithTheConnection() throws {
        let world = ServiceWorld()
        let central = world.device("Phone").manager(.central)
        let strap = world.device("Device name").manager(.peripheral)
        try strap.publish(name: "Advertised")
        let found = try central.find()
        #expect(found.name == "Advertised")
        try central.connect(found.identifier)
        let name = try central.expect("nameChanged") { event -> String?? in
            if case .central(.peer(_, .nameChanged(let name))) = event { .some(name) } else { nil }
        }
        #expect(name == "Device name")
        #expect(central.ask(.peripherals(identifiers: [found.identifier])).first?.name == "Device name")
        strap.close()
    }

    @Test("behaviours 5.8, 14.6, 14.12: the longest write is 20 octets at first and 182 with an MTU of 185")
    func theWriteLengthGrowsWithTheMTU() throws {
        let pair = try ConnectedPair()
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        let first = try pair.central.expect("connected") { event -> Int? in
            if case .central(.peer(_, .connected(_, let length))) = event { length } else { nil }
        }
        #expect(first == 20)
        let then = try pair.central.expect("maximumWriteLengthChanged") { event -> Int? in
            if case .central(.peer(_, .maximumWriteLengthChanged(let length))) = event { length } else { nil }
        }
        #expect(then == 182)
    }

    @Test func aDeviceIsCentralAndPeripheralAtOnce() throws {
        let pair = try ConnectedPair()
        let relay = pair.phone.manager(.peripheral)
        let watch = pair.world.device("Watch").manager(.central)
        try relay.publish(Example.battery, name: "Relay")
        let found = try watch.find(0x180F)
        _ = try pair.connected()
        try watch.connect(found.identifier)
        #expect(pair.phone.system.links.all.count == 2)
        let level = try #require(try watch.explore(found.identifier, 0x180F)[0x2A19])
        let value = try watch.ask(
            .readCharacteristic(peer: found.identifier, characteristic: level),
            "value",
            \.value
        )
        #expect(value == .success([77]))
    }

    @Test func bothRolesShareOneLink() throws {
        // The strap, as a central, discovers the services of the phone that connected to it.
        let pair = try ConnectedPair()
        let phoneServices = pair.phone.manager(.peripheral)
        let service = LocalService(id: LocalAttributeID(1), uuid: 0x1805, isPrimary: true)
        #expect(try phoneServices.ask(.addService(service), "serviceAdded", \.serviceAdded) == .some(nil))
        _ = try pair.connected()
        let phone = try #require(pair.strap.system.links.all.first?.peer)
        let central = pair.strap.manager(.central)
        try central.connect(phone)
        let services = try central.ask(.discoverServices(peer: phone, uuids: nil), "services", \.services)
        #expect(try services.get().map(\.uuid) == [0x1805])
        // Releasing a link that the peer initiated does not end it.
        central.send(.cancelConnection(peer: phone))
        pair.world.run(.seconds(1))
        #expect(pair.strap.system.links.all.count == 1)
    }

    @Test func severalPeripheralsAreConnectedInWhateverOrderTheyCome() throws {
        let world = ServiceWorld()
        let central = world.device("Phone").manager(.central)
        var straps: [TestDevice] = []
        var sensors: [TestManager] = []
        for index in 0..<6 {
            let strap = world.device("Strap \(index)")
            let sensor = strap.manager(.peripheral)
            try sensor.publish(name: "Strap \(index)")
            straps.append(strap)
            sensors.append(sensor)
        }
        central.send(.startScan(ScanRequest(services: [Example.service])))
        world.run(.seconds(1))
        central.send(.stopScan)
        let peers = Set(central.take().compactMap { $0.discovery?.peer.identifier })
        #expect(peers.count == 6)
        for strap in straps { strap.controller.isInRange = false }
        for peer in peers { central.send(.connect(peer: peer, options: ConnectOptions())) }
        world.run(.seconds(20))
        // The accept list holds four, so the peers take turns.
        for strap in straps.reversed() { strap.controller.isInRange = true }
        world.run(.seconds(20))
        #expect(Set(central.take().compactMap { $0.connection?.identifier }) == peers)
        #expect(sensors.allSatisfy { $0.take().isEmpty })
    }

    @Test("behaviour 11.7: connected peripherals are found by their services")
    func connectedPeripheralsAreFoundByTheirServices() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let other = pair.phone.manager(.central)
        #expect(other.ask(.connectedPeripherals(services: [])).isEmpty)
        #expect(other.ask(.connectedPeripherals(services: [0x180F])).isEmpty)
        #expect(other.ask(.connectedPeripherals(services: [Example.service])).map(\.identifier) == [pair.peer])
    }

    @Test("behaviour 11.2: peripherals are retrieved in the requested order")
    func peripheralsAreRetrievedInTheOrderAsked() throws {
        let pair = try ConnectedPair()
        let relay = pair.world.device("Other").manager(.peripheral)
        try relay.publish(battery)
        let other = try pair.central.find(battery.uuid).identifier
        for order in [[pair.peer, other], [other, pair.peer]] {
            let asked = [order[0], UUID(), order[1]]
            #expect(pair.central.ask(.peripherals(identifiers: asked)).map(\.identifier) == order)
        }
        relay.close()
    }

    @Test("AB-G05: a manager's pending connections are bounded")
    func connectionsThatAManagerWantsAreBounded() throws {
        let pair = try ConnectedPair()
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.milliseconds(1))
        for number in 0...ServiceLimits.peersOfManager {
            pair.phone.controller.report(from: BluetoothAddress(UInt64(number), kind: .randomDevice))
        }
        pair.world.run(.milliseconds(1))
        pair.central.send(.stopScan)
        let found = pair.central.take().compactMap(\.discovery?.peer.identifier).filter { $0 != pair.peer }
        try #require(found.count == ServiceLimits.peersOfManager + 1)
        // Delayed attempts count too.
        var options = ConnectOptions()
        options.startDelay = 3_600
        for peer in found { pair.central.send(.connect(peer: peer, options: options)) }
        pair.world.run(.seconds(1))
        let refused = pair.central.take().compactMap { event -> (UUID, ServiceError)? in
            if case .central(.peer(let peer, .connectionFailed(let error))) = event { (peer, error) } else { nil }
        }
        #expect(refused.map(\.0) == [found.last])
        #expect(refused.first?.1.code == .core(.connectionLimitReached))
        // Cancelling one frees a slot.
        pair.central.send(.cancelConnection(peer: found[0]))
        pair.central.send(.connect(peer: try #require(found.last), options: options))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().map { $0.disconnection != nil } == [true])
    }

    @Test func anUnknownPeripheralCannotBeConnected() throws {
        let pair = try ConnectedPair()
        let stranger = UUID()
        pair.central.send(.connect(peer: stranger, options: ConnectOptions()))
        let error = try pair.central.expect("connectionFailed") { event -> ServiceError? in
            if case .central(.peer(stranger, .connectionFailed(let error))) = event { error } else { nil }
        }
        #expect(error.code == .core(.unknownDevice))
    }

    @Test("behaviour 3.33: a connection beyond the controller's capacity fails with error 11")
    func aControllerThatRefusesToConnectIsReported() throws {
        let pair = try ConnectedPair()
        pair.phone.controller.refuses[LECreateConnection.opcode] = .memoryCapacityExceeded
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        let error = try pair.central.expect("connectionFailed") { event -> ServiceError? in
            if case .central(.peer(_, .connectionFailed(let error))) = event { error } else { nil }
        }
        #expect(error.code == .core(.connectionLimitReached))
    }

    @Test("behaviour 5.24: the signal strength of a link can be read")
    func signalStrengthIsRead() throws {
        let pair = try ConnectedPair().linked()
        let rssi = try pair.central.ask(.readRSSI(peer: pair.peer), "rssiRead") { event -> Int? in
            if case .central(.peer(_, .rssiRead(.success(let rssi)))) = event { rssi } else { nil }
        }
        #expect(rssi == -42)
    }

    @Test("a controller that cannot scan and connect at once alternates between them")
    func scanningAndConnectingTakeTurnsWhereTheyMust() throws {
        let pair = try ConnectedPair()
        pair.phone.controller.refuses[LECreateConnection.opcode] = .commandDisallowed
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        pair.world.run(.seconds(10))
        #expect(pair.central.take().isEmpty)
        pair.phone.controller.refuses = [LESetScanEnable.opcode: .commandDisallowed]
        pair.central.send(.startScan(ScanRequest()))
        _ = try pair.central.expect("connected", \.connection)
        pair.phone.controller.refuses = [:]
        _ = try pair.central.expect("discovered", \.discovery)
    }

    /// Low, medium and high: the higher the latency, the more seldom the peripheral listens.
    @Test(
        "GAP/CONN/CPUP/BV-01, GAP/CONN/CPUP/BV-04, behaviour 7.47: a peripheral requests another latency",
        arguments: [(0, 12...12, 0), (1, 60...84, 0), (2, 240...288, 2)] as [(Int, ClosedRange<UInt16>, UInt16)]
    )
    func aPeripheralAsksForAnotherLatency(latency: Int, interval: ClosedRange<UInt16>, skipped: UInt16) throws {
        let pair = try ConnectedPair().linked()
        let central = try #require(pair.strap.system.links.all.first?.peer)
        pair.sensor.send(.setDesiredConnectionLatency(central: central, latency: latency))
        pair.world.run(.seconds(1))
        // The central's rules (behaviour 3.27) accept the parameters that this host requests.
        let update = try #require(pair.phone.controller.lastConnectionUpdate)
        #expect(update.intervalMin...update.intervalMax == interval)
        #expect(update.maxLatency == skipped)
        #expect(update.supervisionTimeout == 600)
        // A central that is not connected gets no request.
        pair.sensor.send(.setDesiredConnectionLatency(central: UUID(), latency: latency))
        pair.world.run(.seconds(1))
        #expect(pair.phone.controller.commands.filter { $0 == "LE Connection Update" }.count == 1)
    }

    @Test("behaviours 3.26, 14.4: connections start with the parameters of an iPhone")
    func connectionsBeginWithTheParametersOfAnIPhone() throws {
        let pair = try ConnectedPair().linked()
        let command = try #require(pair.phone.controller.lastConnectionRequest)
        #expect(command.intervalMin == 24)
        #expect(command.intervalMax == 24)
        #expect(command.maxLatency == 0)
        #expect(command.supervisionTimeout == 72)
    }

    @Test func disconnectionsCarryTheTimeOfTheCalendar() throws {
        let pair = try ConnectedPair(configure: { $0.loopStart = 1_000_000 }).linked()
        pair.world.run(.seconds(10))
        pair.strap.controller.loseLinks(.connectionTimeout)
        let time = try pair.central.expect("disconnected") { event -> TimeInterval? in
            if case .central(.peer(_, .disconnected(_, _, let timestamp))) = event { timestamp } else { nil }
        }
        #expect(time > 1_000_010)
        #expect(time < 1_000_020)
    }
}
