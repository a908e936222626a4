import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import L2CAP
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Which requests and events an app in the peripheral role receives, and which not.
@Suite struct ServingTests {
    @Test("behaviour 7.5: the app is asked for each read and write of a dynamic value, and never of a fixed one")
    func onlyDynamicValuesAskTheApp() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        let (note, location) = (try #require(handles[Example.note]), try #require(handles[Example.location]))
        pair.sensor.take()
        for octet in 1...3 as ClosedRange<UInt8> {
            pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
            let read = try pair.sensor.expect("readRequested", \.readRequest)
            pair.sensor.send(.respond(transaction: read.transaction, status: .success, value: [octet]))
            #expect(try pair.central.expect("value", \.value) == .success([octet]))
            pair.central.send(.writeCharacteristic(peer: pair.peer, characteristic: note, value: [octet]))
            let write = try pair.sensor.expect("writeRequested", \.writeRequest)
            #expect(write.writes.map(\.value) == [[octet]])
            pair.sensor.send(.respond(transaction: write.transaction, status: .success, value: nil))
            #expect(try pair.central.expect("written", \.writeResult) == .some(nil))
            let fixed = Request.readCharacteristic(peer: pair.peer, characteristic: location)
            #expect(try pair.central.ask(fixed, "value", \.value) == .success([1]))
        }
        #expect(pair.sensor.take().isEmpty)
    }

    @Test("behaviour 7.41: a central that only connects, discovers and disconnects is not reported")
    func connectionsOfCentralsAreNotTold() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.world.run(.seconds(5))
        _ = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        pair.world.run(.seconds(5))
        #expect(pair.sensor.take().isEmpty)
        #expect(pair.strap.system.links.all.isEmpty)
    }

    @Test("behaviour 7.48: a central can read and subscribe to an unprotected value without pairing")
    func subscribingWithoutPairing() throws {
        let measured = LocalCharacteristic(
            id: Example.measurementID,
            uuid: Example.measurement,
            properties: 0x12,
            permissions: 1
        )
        let service = LocalService(
            id: Example.serviceID,
            uuid: Example.service,
            isPrimary: true,
            characteristics: [measured]
        )
        let pair = try ConnectedPair(service)
        let handle = try #require(try pair.connected()[Example.measurement])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: handle, enabled: true)
        #expect(try pair.central.ask(subscribe, "subscribed", \.notifyState).error == nil)
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: handle))
        let read = try pair.sensor.expect("readRequested", \.readRequest)
        pair.sensor.send(.respond(transaction: read.transaction, status: .success, value: [1]))
        #expect(try pair.central.expect("value", \.value) == .success([1]))
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [2], centrals: nil))
        #expect(try pair.central.expect("value", \.value) == .success([2]))
        #expect(pair.phone.system.peers.bondedPeers.isEmpty)
    }

    @Test("behaviour 7.43: an update in flight when power is lost returns its credit")
    func creditsComeBackWithoutPower() throws {
        let pair = try ConnectedPair()
        pair.strap.system.controllers.setPower(false)
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [1], centrals: nil))
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().compactMap(\.updateCredits) == [1])
    }

    @Test("behaviour 7.43: credits return before the loss of power is reported")
    func creditsComeBeforeTheLossOfPower() throws {
        let pair = try ConnectedPair()
        let system = LoopBound(pair.strap.system, loop: pair.world.loop)
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [1], centrals: nil))
        pair.world.loop.submit { system.value.controllers.setPower(false) }
        pair.world.run(.seconds(1))
        let told = pair.sensor.take()
        let credits = try #require(told.firstIndex { $0.updateCredits == 1 })
        let off = try #require(told.firstIndex { $0.state == .poweredOff })
        #expect(credits < off)
    }

    @Test(
        "behaviours 4.11, 3.24: a system reports changes, and a connecting central enables these reports and reads the name"
    )
    func changesAreToldWithoutAnAppsAsking() throws {
        let pair = try ConnectedPair().linked()
        pair.world.run(.seconds(3))
        let names = pair.central.take().compactMap { event -> String? in
            if case .central(.peer(_, .nameChanged(let name))) = event { name } else { nil }
        }
        #expect(names == ["Strap"] || pair.phone.system.peers[pair.peer]?.deviceName == "Strap")
        try pair.sensorAlsoPublishes(0x180F)
        _ = try pair.central.expect("servicesModified") { event -> Bool? in
            if case .central(.peer(_, .servicesModified)) = event { true } else { nil }
        }
    }

    /// Includes services published while the system explores the peer on its own.
    @Test("behaviours 4.11, 3.24: a service published at any time is found by or reported to connected centrals")
    func servicesPublishedAtAnyTimeAreFound() throws {
        for delay in 0..<100 as Range<Int64> {
            let pair = try ConnectedPair().linked()
            pair.world.run(.milliseconds(delay))
            try pair.sensorAlsoPublishes(0x180F)
            pair.world.run(.seconds(3))
            let request = Request.discoverServices(peer: pair.peer, uuids: [0x180F])
            let found = try pair.central.ask(request, "services", \.services).get()
            #expect(found.map(\.uuid) == [0x180F], "published after \(delay) ms")
        }
    }

    @Test("behaviour 4.18: grouping services by UUID width saves discovery exchanges")
    func servicesOfOneWidthStandTogether() throws {
        let short = (0..<4).map { BluetoothUUID(0xFFA0 + $0) }
        let long = (0..<4).map { BluetoothUUID(high: 0x1234_5678, low: UInt64($0)) }
        func packets(_ order: [BluetoothUUID]) throws -> Int {
            let pair = try ConnectedPair()
            for (number, uuid) in order.enumerated() {
                let service = LocalService(id: LocalAttributeID(UInt32(100 + number)), uuid: uuid, isPrimary: true)
                #expect(try pair.sensor.ask(.addService(service), "serviceAdded", \.serviceAdded) == .some(nil))
            }
            let before = pair.phone.controller.dataPackets
            try pair.central.connect(pair.peer)
            pair.world.run(.seconds(3))
            return pair.phone.controller.dataPackets - before
        }
        let mixed = zip(short, long).flatMap { [$0, $1] }
        #expect(try packets(short + long) < packets(mixed))
    }

    @Test("AB-G05: requests of a disconnected central hold none of its state, and the app's response is dropped")
    func aCentralThatIsGoneLeavesNothing() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        weak let session = pair.strap.system.links.all.first?.served
        #expect(session != nil)
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        let request = try pair.sensor.expect("readRequested", \.readRequest)
        _ = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        pair.world.run(.seconds(1))
        #expect(session == nil)
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: [1]))
        _ = try pair.connected()
    }

    @Test("a pending disconnection is dropped with the power, and does not affect a later link")
    func aWishToEndALinkGoesWithThePower() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let central = try #require(pair.strap.system.links.all.first?.peer)
        // The controller refuses to end the link, so it ends when Bluetooth is turned off.
        pair.strap.controller.refuses[Disconnect.opcode] = .commandDisallowed
        pair.sensor.send(.peripheral(.disconnectCentral(central)))
        pair.world.run(.seconds(1))
        #expect(pair.strap.system.links.all.count == 1)
        pair.strap.controller.refuses = [:]
        pair.strap.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        pair.strap.system.controllers.setPower(true)
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.sensor.take()
        _ = try pair.connected()
        _ = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
        pair.world.run(.seconds(1))
        let released = pair.sensor.take().contains { event in
            if case .peripheral(.centralReleased) = event { true } else { false }
        }
        #expect(!released)
    }

    @Test("behaviour 14.2: after half a minute, the advertising interval is one that Apple recommends")
    func theSlowInterval() throws {
        let pair = try ConnectedPair()
        pair.central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        func heard(in time: Duration) -> Int {
            pair.central.take()
            pair.world.run(time)
            return pair.central.take().count / 2
        }
        #expect((45...55).contains(heard(in: .seconds(1))))
        pair.world.run(.seconds(60))
        // The interval is 152.5 ms.
        #expect((63...67).contains(heard(in: .seconds(10))))
    }

    @Test(
        "behaviours 3.29, 14.4: only a peer with the service of input devices gets 11.25 ms",
        arguments: [false, true]
    )
    func theShortestIntervalIsForInputDevices(isInputDevice: Bool) throws {
        let pair = try ConnectedPair()
        if isInputDevice { try pair.sensorAlsoPublishes(0x1812) }
        _ = try pair.connected()
        pair.world.run(.seconds(2))
        let link = try #require(pair.strap.system.links.all.first?.link)
        let asked = ConnectionParameters(intervalMinimum: 9, intervalMaximum: 9, latency: 0, timeout: 600)
        link.updateParameters(asked, by: .l2cap) { _ in }
        pair.world.run(.seconds(1))
        #expect(pair.phone.controller.lastConnectionUpdate?.intervalMin == (isInputDevice ? 9 : nil))
    }
}
