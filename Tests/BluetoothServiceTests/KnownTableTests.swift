import BluetoothTypes
import EventLoops
import Foundation
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Cached attribute tables and values of peers that are not bonded.
@Suite struct KnownTableTests {
    @Test(
        "behaviour 4.10: the table of an unbonded peer is cached for good if the peer cannot report changes, and else for one connection",
        arguments: [false, true]
    )
    func unbondedTablesAreCachedByChangeSupport(tellsOfChanges: Bool) throws {
        let bench = try AccessoryBench(tellsOfChanges: tellsOfChanges)
        let peer = try bench.peer()
        #expect(try bench.visit(peer) == [TestAccessory.service])
        try bench.accessory.publish(0xFFF0)
        let both: [BluetoothUUID] = [TestAccessory.service, 0xFFF0]
        for _ in 1...2 { #expect(try bench.visit(peer) == (tellsOfChanges ? both : [TestAccessory.service])) }
        // Another app's device discovers the current table.
        let other = bench.air.world.manager(.central, on: bench.air.system("Tablet"))
        bench.accessory.advertise()
        let found = try other.find(TestAccessory.service).identifier
        try other.connect(found)
        let services = try other.ask(.discoverServices(peer: found, uuids: nil), "services", \.services)
        #expect(try services.get().map(\.uuid) == both)
    }

    @Test(
        "behaviour 15.6: a table that an app has dropped is discovered again, on this connection or the next, and stays cached",
        arguments: [false, true]
    )
    func droppedTablesAreDiscoveredAgain(isCut: Bool) throws {
        let bench = try AccessoryBench(tellsOfChanges: false)
        let peer = try bench.peer()
        #expect(try bench.visit(peer) == [TestAccessory.service])
        try bench.accessory.publish(0xFFF0)
        let both: [BluetoothUUID] = [TestAccessory.service, 0xFFF0]
        #expect(try bench.visit(peer) == [TestAccessory.service])
        bench.accessory.advertise()
        try bench.central.connect(peer)
        bench.air.world.run(.seconds(2))
        let refresh = Request.central(.peer(peer, .link(.refreshServices)))
        if isCut {
            bench.central.send(refresh)
        } else {
            #expect(try bench.central.ask(refresh, "services", \.services).get().map(\.uuid) == both)
        }
        _ = try bench.central.ask(.cancelConnection(peer: peer), "disconnected", \.disconnection)
        bench.air.world.run(.seconds(1))
        bench.central.take()
        for _ in 1...2 { #expect(try bench.visit(peer) == both) }
    }

    @Test("behaviour 4.12: turning Bluetooth off drops the cached tables of unbonded peers")
    func switchingOffForgetsTheTables() throws {
        let bench = try AccessoryBench(tellsOfChanges: false)
        let peer = try bench.peer()
        #expect(try bench.visit(peer) == [TestAccessory.service])
        try bench.accessory.publish(0xFFF0)
        #expect(try bench.visit(peer) == [TestAccessory.service])
        bench.phone.controllers.setPower(false)
        bench.air.world.run(.seconds(1))
        bench.phone.controllers.setPower(true)
        bench.air.world.run(.seconds(1))
        #expect(try bench.visit(peer) == [TestAccessory.service, 0xFFF0])
    }

    @Test(
        "behaviours 4.10, 4.12: the cached tables of unbonded peers survive a restart of the service, but not of the device or of Bluetooth",
        arguments: ["today", "tomorrow", nil],
        [false, true]
    )
    func unbondedTablesSurviveARestartOfTheService(run: String?, isSwitchedOff: Bool) throws {
        let air = RadioWorld()
        let accessory = try TestAccessory(on: air, tellsOfChanges: false)
        try accessory.publish()
        let storage = MemoryBondStorage(secret: RandomSource(seed: 5), records: MemoryRecordStorage())
        func visit(_ run: String?) throws -> (services: [BluetoothUUID], peer: UUID) {
            let phone = air.system("Phone", bonds: storage) { $0.run = run }
            let central = air.world.manager(.central, on: phone)
            accessory.advertise()
            let peer = try central.find(TestAccessory.service).identifier
            try central.connect(peer)
            let services = try central.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services)
            air.world.run(.seconds(2))
            _ = try central.ask(.cancelConnection(peer: peer), "disconnected", \.disconnection)
            air.world.run(.seconds(1))
            if isSwitchedOff { phone.controllers.setPower(false) }
            air.world.run(.seconds(1))
            phone.stop()
            return (try services.get().map(\.uuid), peer)
        }
        let first = try visit("today")
        #expect(first.services == [TestAccessory.service])
        try accessory.publish(0xFFF0)
        let second = try visit(run)
        #expect(second.peer == first.peer)
        let isKept = run == "today" && !isSwitchedOff
        #expect(second.services == (isKept ? [TestAccessory.service] : [TestAccessory.service, 0xFFF0]))
    }

    /// Holds for another app too, and for the next connection if the table never changes.
    @Test(
        "behaviour 4.9: a discovered characteristic has the value read last",
        arguments: [false, true]
    )
    func aDiscoveredCharacteristicHasTheValueThatWasRead(tellsOfChanges: Bool) throws {
        let bench = try AccessoryBench(tellsOfChanges: tellsOfChanges)
        let peer = try bench.peer()
        func discovered(_ manager: TestManager) throws -> RemoteCharacteristic? {
            let services = try manager.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services)
            let service = try #require(try services.get().first)
            let request = Request.discoverCharacteristics(peer: peer, service: service.handle, uuids: nil)
            return try manager.ask(request, "characteristics", \.characteristics).get().first
        }
        bench.accessory.advertise()
        try bench.central.connect(peer)
        let first = try #require(try discovered(bench.central))
        #expect(first.value == nil)
        let read = Request.readCharacteristic(peer: peer, characteristic: first.handle)
        #expect(try bench.central.ask(read, "value", \.value) == .success([7]))
        let other = bench.air.world.manager(.central, on: bench.phone)
        try other.connect(peer)
        #expect(try discovered(other)?.value == [7])
        for manager in [bench.central, other] { manager.send(.cancelConnection(peer: peer)) }
        bench.air.world.run(.seconds(2))
        bench.accessory.advertise()
        try bench.central.connect(peer)
        #expect(try discovered(bench.central)?.value == (tellsOfChanges ? nil : [7]))
    }

    @Test("AB-G05: cached values are bounded, and dropped with their service")
    func valuesThatAreRememberedAreBounded() {
        var database = RemoteDatabase()
        let count = AttributeHandle(RemoteDatabase.maximumValues)
        for handle in 1...count + 10 { database.remember([UInt8(truncatingIfNeeded: handle)], of: handle) }
        #expect(database.values.count == RemoteDatabase.maximumValues)
        database.remember([0xAA], of: 1)
        #expect(database.values[1] == [0xAA] && database.values[count + 1] == nil)
        database.invalidate(1...10)
        #expect(database.values[1] == nil && database.values[11] == [11])
        #expect(database.values.count == RemoteDatabase.maximumValues - 10)
    }
}

extension AccessoryBench {
    /// The identifier of the accessory, which advertises and is found.
    fileprivate func peer() throws -> UUID {
        accessory.advertise()
        return try central.find(TestAccessory.service).identifier
    }

    /// The services found during one connection.
    fileprivate func visit(_ peer: UUID) throws -> [BluetoothUUID] {
        accessory.advertise()
        try central.connect(peer)
        let services = try central.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services)
        world.run(.seconds(2))
        _ = try central.ask(.cancelConnection(peer: peer), "disconnected", \.disconnection)
        world.run(.seconds(1))
        central.take()
        return try services.get().map(\.uuid)
    }
}
