import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService

/// An app without permission learns nothing about peers (AB-G07).
@Suite struct BarredAppTests {
    private let test = AppIdentity(name: "test")
    private let collector = AppIdentity(name: "com.example.Collector")

    @Test(
        "AB-G07: an app without permission gets no information about peers, on any version",
        arguments: [
            (AppPermission.denied, SystemVersion.newest), (.denied, 12), (.restricted, .newest),
            (.notDetermined, .newest),
        ]
    )
    func queries(permission: AppPermission, version: SystemVersion) throws {
        let pair = try ConnectedPair { $0.version = version }
        _ = try pair.connected()
        let other = pair.phone.manager(.central, of: pair.phone.system.openApp(AppIdentity(name: "other")))
        try other.connect(pair.peer)
        pair.central.send(.startScan(ScanRequest(services: nil, allowsDuplicates: true)))
        pair.world.run(.seconds(1))
        func ask(_ manager: TestManager) -> [Result<Reply, ServiceError>] {
            let queries: [Query] = [
                .peripherals(identifiers: [pair.peer]), .connectedPeripherals(services: [Example.service]),
                .names(pair.peer), .scanCounts,
            ]
            return queries.map { manager.connection.ask($0, from: manager.id) }
        }
        let nothing: [Reply] = [.peripherals([]), .connectedPeripherals([]), .names(KnownNames()), .scanCounts(nil)]
        #expect(zip(ask(pair.central), nothing).allSatisfy { $0 != .success($1) })
        pair.phone.system.apps.permissions.set(permission, for: test)
        pair.world.run(.seconds(1))
        #expect(ask(pair.central) == nothing.map { .success($0) })
        #expect(ask(other).prefix(3).elementsEqual(nothing.prefix(3)) { $0 == .success($1) } == false)
        #expect(pair.phone.system.links.all.count == 1)
    }

    @Test("AB-G07: an app that observes centrals or connections gets no events without permission")
    func watches() throws {
        let pair = try ConnectedPair()
        let watcher = AppIdentity(name: "watcher")
        let centrals = pair.strap.manager(.peripheral, of: pair.strap.system.openApp(watcher))
        let connections = pair.phone.manager(.central, of: pair.phone.system.openApp(watcher))
        pair.world.run(.seconds(1))
        centrals.send(.peripheral(.watchCentrals(true)))
        connections.send(.watchConnections(ConnectionWatch(peers: [pair.peer])))
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(1))
        let (first, second) = (centrals.take(), connections.take())
        // The state, the connection and, at the central, its MTU.
        #expect(first.count == 3 && second.count == 2, "\(first) \(second)")
        for device in [pair.strap, pair.phone] { device.system.apps.permissions.set(.denied, for: watcher) }
        pair.central.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.seconds(1))
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(1))
        #expect(centrals.take() == [.stateChanged(.unauthorized)])
        #expect(connections.take() == [.stateChanged(.unauthorized)])
    }

    @Test("AB-G07: revoking permission ends an app's channels, and no more data comes out of them")
    func channels() throws {
        let peer = RawPeer(.peripheral)
        let (cid, id) = try peer.open(try peer.connectToPublisher())
        peer.send(le(1) + [7], on: cid)
        #expect(peer.told(id) == [.received([7])])
        // Data beyond the app's window queues for it.
        let sdu = le(240) + [UInt8](repeating: 1, count: 240)
        for _ in 0..<ServiceLimits.channelWindow / 240 + 2 {
            peer.send(sdu, on: cid)
            peer.air.world.run(.milliseconds(20))
        }
        #expect(!peer.told(id).isEmpty)
        peer.system.apps.permissions.set(.denied, for: test)
        #expect(peer.told(id) == [.ended(nil)])
        peer.send(le(1) + [8], on: cid)
        #expect(peer.told(id).isEmpty)
        #expect(peer.takeSignals().contains { $0.first == 0x06 })
    }

    @Test("AB-G07: revoking permission voids the queued events of a suspended app")
    func revokingPermissionVoidsQueuedEvents() throws {
        let apps = LivingApps()
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        apps.measure([1])
        apps.phone.system.apps.permissions.set(.denied, for: collector)
        apps.centralApp.happened(.entered)
        apps.world.run(.seconds(1))
        #expect(apps.central.take() == [.stateChanged(.unauthorized)])
    }

    @Test(
        "AB-G07: a central manager that is restored without permission gets no peripherals",
        arguments: [true, false]
    )
    func restoredCentral(isReset: Bool) throws {
        let apps = LivingApps(central: .central, restores: true)
        let system = apps.phone.system
        system.apps.permissions.rule = { _ in .notDetermined }
        system.apps.permissions.set(.allowedAlways, for: collector)
        try apps.subscribe()
        apps.centralApp.happened(.ended(.crashed))
        apps.measure([1])
        isReset ? system.apps.permissions.reset(collector) : system.apps.permissions.set(.denied, for: collector)
        let again = apps.phone.app("Collector", .central, usage: "To see")
        let manager = apps.phone.manager(.central, of: again, restoring: "collector")
        apps.world.run(.seconds(1))
        let restored = Event.central(.willRestore(RestoredCentral(scan: nil, peers: [])))
        #expect(manager.take() == (isReset ? [restored] : [restored, .stateChanged(.unauthorized)]))
        system.apps.permissions.set(.allowedAlways, for: collector)
        apps.world.run(.seconds(5))
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        #expect(system.links.all.isEmpty)
    }

    @Test("AB-G07: nor does one that is restored from a record after a restart")
    func restoredAfterARestart() throws {
        let bench = RecordBench()
        let address = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        let peer = bench.phone.system.peers.peer(at: address).identifier
        bench.phone.system.peers.setName("Belt", of: peer)
        let (_, manager) = bench.open()
        manager.send(.startScan(ScanRequest(services: [0x180D])))
        manager.send(.connect(peer: peer, options: ConnectOptions()))
        bench.world.run(.seconds(1))
        bench.phone.system.apps.permissions.set(.denied, for: collector)
        bench.restart()
        #expect(bench.recorded?.count == 2)
        let again = bench.open().manager
        bench.world.run(.seconds(1))
        let scan = ScanRequest(services: [0x180D])
        let restored = Event.central(.willRestore(RestoredCentral(scan: scan, peers: [])))
        #expect(again.take() == [restored, .stateChanged(.unauthorized)])
    }

    @Test("AB-G07: a peripheral manager that is restored without permission gets no subscribers")
    func restoredPeripheral() throws {
        let apps = LivingApps(restores: true)
        try apps.subscribe()
        apps.sensorApp.happened(.ended(.crashed))
        apps.strap.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Sensor"))
        apps.launchSensor()
        apps.world.run(.seconds(1))
        let events = apps.sensor.take()
        guard case .peripheral(.willRestore(let state)) = events.first else { return recordIssue("\(events)") }
        #expect(state.services == [Example.heartRate])
        #expect(state.subscriptions.isEmpty)
        #expect(events.dropFirst() == [.stateChanged(.unauthorized)])
    }
}
