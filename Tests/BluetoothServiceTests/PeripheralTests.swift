import ATT
import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import GATT

@Suite struct PeripheralTests {
    // MARK: Publishing

    @Test(
        "behaviours 7.4, 7.7, 7.10: invalid services are refused, including the system's own",
        arguments: [
            ("7.10: Generic Access", 0x1800, 0x02, 1, false, ServiceError.CoreCode.uuidNotAllowed),
            ("7.10: Generic Attribute", 0x1801, 0x02, 1, false, .uuidNotAllowed),
            ("7.4: a fixed value, writable", 0x1234, 0x0A, 3, true, .invalidParameters),
            ("7.4: a fixed value, notified", 0x1234, 0x12, 1, true, .invalidParameters),
            ("7.4: a fixed value with permission to write", 0x1234, 0x02, 3, true, .invalidParameters),
            ("7.7: broadcast", 0x1234, 0x01, 1, false, .invalidParameters),
            ("7.7: extended properties", 0x1234, 0x80, 1, false, .invalidParameters),
        ] as [(String, UInt16, UInt16, UInt8, Bool, ServiceError.CoreCode)]
    )
    func invalidServicesAreRefused(
        fault: String,
        uuid: UInt16,
        properties: UInt16,
        permissions: UInt8,
        hasValue: Bool,
        code: ServiceError.CoreCode
    ) throws {
        let manager = ServiceWorld().device("Strap").manager(.peripheral)
        let service = LocalService(
            id: LocalAttributeID(1),
            uuid: BluetoothUUID(uuid),
            isPrimary: true,
            characteristics: [
                LocalCharacteristic(
                    id: LocalAttributeID(2),
                    uuid: 0x2A00,
                    properties: properties,
                    permissions: permissions,
                    value: hasValue ? [1] : nil
                )
            ]
        )
        #expect(try manager.ask(.addService(service), "serviceAdded", \.serviceAdded)?.code == .core(code))
    }

    @Test(
        "behaviour 7.8: only descriptors that describe can be published",
        arguments: [
            ("extended properties", 0x2900, false), ("user description", 0x2901, true),
            ("client configuration", 0x2902, false), ("server configuration", 0x2903, false), ("format", 0x2904, true),
            ("aggregate format", 0x2905, false), ("external report reference", 0x2907, false),
            ("unassigned", 0x1234, false),
        ] as [(String, UInt16, Bool)]
    )
    func onlyDescriptorsThatDescribeArePublished(name: String, uuid: UInt16, isPublished: Bool) throws {
        let manager = ServiceWorld().device("Strap").manager(.peripheral)
        var service = Example.heartRate
        service.characteristics[0].descriptors = [LocalDescriptor(uuid: BluetoothUUID(uuid), value: [0, 0])]
        let error = try manager.ask(.addService(service), "serviceAdded", \.serviceAdded)
        #expect(error?.code == (isPublished ? nil : .core(.invalidParameters)))
    }

    /// Values that the system serves without asking the app obey the app's permissions too (behaviours 7.3, 7.38).
    @Test(
        "AB-A13: a fixed value for trusted peers is refused to all others",
        arguments: [(1, nil), (4, 0x05), (5, 0x05)] as [(UInt8, UInt8?)]
    )
    func aFixedValueForTrustedPeersIsForNobodyElse(permissions: UInt8, refusal: UInt8?) throws {
        var service = Example.heartRate
        service.characteristics[1].permissions = permissions
        let pair = try ConnectedPair(service)
        let location = try #require(try pair.connected()[Example.location])
        let read = Request.readCharacteristic(peer: pair.peer, characteristic: location)
        let value = try pair.central.ask(read, "value", \.value)
        #expect(value.error?.code == refusal.map { .att(ATTStatus(rawValue: $0)) })
        #expect((try? value.get()) == (refusal == nil ? [1] : nil))
    }

    @Test("AB-G05: the services of a manager are bounded")
    func servicesOfAManagerAreBounded() throws {
        let strap = ServiceWorld().device("Strap")
        let manager = strap.manager(.peripheral)
        func add(_ number: Int, _ manager: TestManager) throws -> ServiceError? {
            let service = LocalService(id: LocalAttributeID(UInt32(number)), uuid: 0x1234, isPrimary: true)
            return try manager.ask(.addService(service), "serviceAdded", \.serviceAdded)
        }
        for number in 1...ServiceLimits.servicesOfManager { #expect(try add(number, manager) == nil) }
        #expect(try add(999, manager)?.code == .core(.outOfSpace))
        // The limit applies to that manager, and removing a service frees space.
        #expect(try add(1, strap.manager(.peripheral)) == nil)
        manager.send(.removeService(LocalAttributeID(1)))
        #expect(try add(999, manager) == nil)
    }

    /// A manager that exceeds its credits has at most that many updates pending.
    @Test("AB-G05: pending value updates are bounded")
    func updatesThatWaitAreBounded() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        pair.central.take()
        for octet in 0..<200 as Range<UInt8> {
            pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [octet], centrals: nil))
        }
        pair.world.run(.seconds(5))
        let values = try pair.central.take().compactMap(\.value).map { try $0.get() }
        #expect(values.count < 100)
        #expect(values == (0..<UInt8(values.count)).map { [$0] })
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == values.count)
    }

    @Test("behaviour 7.9: included services are published first and removed last")
    func includedServicesComeFirstAndGoLast() throws {
        let world = ServiceWorld()
        let manager = world.device("Strap").manager(.peripheral)
        let inner = Example.emptyBattery
        let outer = LocalService(
            id: LocalAttributeID(2),
            uuid: 0x180D,
            isPrimary: true,
            includedServices: [inner.id]
        )
        let early = try manager.ask(.addService(outer), "serviceAdded", \.serviceAdded)
        #expect(early?.code == .core(.invalidParameters))
        #expect(try manager.ask(.addService(inner), "serviceAdded", \.serviceAdded) == .some(nil))
        #expect(try manager.ask(.addService(outer), "serviceAdded", \.serviceAdded) == .some(nil))
        // Removing all services works in dependency order and leaves none behind.
        manager.send(.removeAllServices)
        world.run(.zero)
        #expect(try manager.ask(.addService(inner), "serviceAdded", \.serviceAdded) == .some(nil))
    }

    @Test("behaviour 7.11: apps share the table, and change only their own services")
    func appsShareTheTableAndEditTheirOwn() throws {
        let pair = try ConnectedPair()
        let other = pair.strap.manager(.peripheral)
        let battery = LocalService(id: Example.serviceID, uuid: 0x180F, isPrimary: true)
        #expect(try other.ask(.addService(battery), "serviceAdded", \.serviceAdded) == .some(nil))
        other.send(.removeService(LocalAttributeID(99)))
        try pair.central.connect(pair.peer)
        func services() throws -> [BluetoothUUID] {
            let request = Request.discoverServices(peer: pair.peer, uuids: nil)
            return try pair.central.ask(request, "services", \.services).get().map(\.uuid)
        }
        #expect(try services() == [0x180D, 0x180F])
        // A service of another app with the same identifier stays.
        pair.sensor.send(.removeAllServices)
        pair.world.run(.seconds(1))
        #expect(try services() == [0x180F])
        _ = try pair.sensor.ask(.addService(Example.heartRate), "serviceAdded", \.serviceAdded)
        pair.world.run(.seconds(1))
        #expect(Set(try services()) == [0x180D, 0x180F])
        // A closed app's services are removed.
        other.close()
        pair.world.run(.seconds(1))
        #expect(try services() == [0x180D])
    }

    // MARK: Advertising

    @Test("behaviour 7.17: advertising twice is an error")
    func advertisingTwiceIsAnError() throws {
        let pair = try ConnectedPair()
        let again = try pair.sensor.ask(
            .startAdvertising(AdvertisingRequest(localName: "Again")),
            "advertisingStarted",
            \.advertisingStarted
        )
        #expect(again?.code == .core(.alreadyAdvertising))
    }

    @Test("behaviour 7.30: several apps advertise at the same time")
    func appsAdvertiseTogether() throws {
        let world = ServiceWorld()
        let strap = world.device("Strap")
        let one = strap.manager(.peripheral)
        let two = strap.manager(.peripheral)
        try one.publish()
        let request = AdvertisingRequest(localName: "Other", services: [0x180F])
        #expect(try two.ask(.startAdvertising(request), "started", \.advertisingStarted) == .some(nil))
        // Starting again with the same content changes nothing on the air but is still reported.
        let three = strap.manager(.peripheral)
        #expect(try three.ask(.startAdvertising(request), "started", \.advertisingStarted) == .some(nil))

        let central = world.device("Phone").manager(.central)
        func seen() throws -> Advertisement {
            try central.ask(.startScan(ScanRequest(allowsDuplicates: true)), "discovered", \.discovery).advertisement
        }
        let both = try seen()
        #expect(both.serviceUUIDs == [0x180D, 0x180F])
        #expect(both.localName == "Strap")
        one.send(.stopAdvertising)
        world.run(.seconds(1))
        central.take()
        let rest = try central.expect("discovered", \.discovery).advertisement
        #expect(rest.serviceUUIDs == [0x180F])
        #expect(rest.localName == "Other")
        two.send(.stopAdvertising)
        three.send(.stopAdvertising)
        world.run(.seconds(1))
        #expect(!strap.controller.isAdvertising)
    }

    @Test("behaviour 7.28: advertising continues during a connection")
    func advertisingGoesOnDuringAConnection() throws {
        let pair = try ConnectedPair().linked()
        pair.world.run(.seconds(1))
        #expect(pair.strap.controller.isAdvertising)
        let watch = pair.world.device("Watch").manager(.central)
        try watch.connect(try watch.find().identifier)
        #expect(pair.strap.system.links.all.count == 2)
    }

    @Test("behaviour 7.22: services in the overflow area are found by a scan that names them")
    func overflowingServicesAreFoundWhenAskedFor() throws {
        let world = ServiceWorld()
        let services = (0..<3).map { BluetoothUUID(high: 0x1234_5678, low: UInt64($0)) }
        let phone = world.device("A phone").manager(.peripheral)
        let request = AdvertisingRequest(localName: "A phone with a name", services: services)
        #expect(try phone.ask(.startAdvertising(request), "started", \.advertisingStarted) == .some(nil))
        let central = world.device("Phone").manager(.central)
        let scan = Request.startScan(ScanRequest(services: [services[2]]))
        let found = try central.ask(scan, "discovered", \.discovery).advertisement
        #expect(found.overflowServiceUUIDs == [services[2]])
        #expect(found.serviceUUIDs == [services[0]])
    }

    @Test func aControllerThatRefusesToAdvertiseIsReported() throws {
        let strap = ServiceWorld().device("Strap")
        strap.controller.refuses[LESetAdvertisingEnable.opcode] = .unsupportedFeatureOrParameter
        let manager = strap.manager(.peripheral)
        let request = AdvertisingRequest(localName: "x")
        #expect(try manager.ask(.startAdvertising(request), "started", \.advertisingStarted)?.code == .core(.unknown))
        strap.controller.refuses = [:]
        #expect(try manager.ask(.startAdvertising(request), "started", \.advertisingStarted) == .some(nil))
    }

    @Test func advertisingGoesOnWhenTheControllerHasRoomAgain() throws {
        let pair = try ConnectedPair()
        pair.strap.controller.refuses[LESetAdvertisingEnable.opcode] = .commandDisallowed
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(3))
        #expect(!pair.strap.controller.isAdvertising)
        pair.strap.controller.refuses = [:]
        pair.world.run(.seconds(1))
        #expect(pair.strap.controller.isAdvertising)
    }

    @Test("AB-G05: an app that dies leaves nothing behind")
    func anAppThatDiesLeavesNothingBehind() throws {
        let world = ServiceWorld()
        let strap = world.device("Strap")
        do {
            let app = strap.manager(.peripheral)
            try app.publish()
            #expect(strap.controller.isAdvertising)
        }
        world.run(.seconds(1))
        #expect(!strap.controller.isAdvertising)
        let other = strap.manager(.peripheral)
        try other.publish()
    }

    // MARK: Requests

    @Test("behaviour 7.31: the app answers reads")
    func readsAreAnsweredByTheApp() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        let request = try pair.sensor.expect("readRequested", \.readRequest)
        #expect(request.offset == 0)
        #expect(request.central.maximumUpdateLength == 182)
        let text = PacketBuffer(Array("Hello".utf8))
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: text))
        #expect(try pair.central.expect("value", \.value) == .success(text))
        // Behaviour 7.33: only the first answer counts.
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: [0]))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().isEmpty)
    }

    @Test("behaviour 7.32: a long read repeats the request with an offset")
    func longReadsAskAgainWithAnOffset() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        let text = PacketBuffer((0..<300).map { UInt8(truncatingIfNeeded: $0) })
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        for offset in [0, 184] {
            let request = try pair.sensor.expect("readRequested", \.readRequest)
            #expect(request.offset == offset)
            pair.sensor.send(
                .respond(transaction: request.transaction, status: .success, value: text.suffix(after: offset))
            )
        }
        #expect(try pair.central.expect("value", \.value) == .success(text))
    }

    @Test("behaviour 7.39: the app chooses the error of a write")
    func theAppChoosesTheError() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.send(.writeCharacteristic(peer: pair.peer, characteristic: note, value: [1]))
        let request = try pair.sensor.expect("writeRequested", \.writeRequest)
        #expect(request.writes == [WriteRequest(characteristic: Example.noteID, offset: 0, value: [1])])
        let status = ATTStatus(rawValue: 0x80)
        pair.sensor.send(.respond(transaction: request.transaction, status: status, value: nil))
        #expect(try pair.central.expect("written", \.writeResult)?.code == .att(status))
    }

    /// One app's acceptance could not be undone after another app's refusal, so neither gets writes that span two apps.
    @Test("behaviour 7.35: writes for two apps are refused as a whole")
    func writesForTwoAppsAreRefusedAsAWhole() throws {
        let pair = try ConnectedPair()
        let other = pair.strap.manager(.peripheral)
        let switches = LocalCharacteristic(id: LocalAttributeID(2), uuid: 0x2A56, properties: 0x08, permissions: 2)
        let automation = LocalService(
            id: LocalAttributeID(1),
            uuid: 0x1815,
            isPrimary: true,
            characteristics: [switches]
        )
        try other.publish(automation, name: nil)
        try pair.central.connect(pair.peer)
        let output = try #require(try pair.central.explore(pair.peer, 0x1815)[0x2A56])
        let note = try #require(try pair.central.explore(pair.peer)[Example.note])
        let attributes = pair.strap.system.attributes
        let session = try #require(pair.strap.system.links.all.first?.served)
        var answers: [ATTErrorCode?] = []
        func write(_ handles: [AttributeHandle]) -> [Int] {
            for sensor in [pair.sensor, other] { sensor.take() }
            let writes = handles.map { GATTWrite(handle: $0, value: [1]) }
            let request = GATTWriteRequest(session: session, writes: writes, expectsResponse: true) { error, _ in
                answers.append(error)
            }
            attributes.server(attributes.server, didReceiveWrite: request)
            pair.world.run(.seconds(1))
            return [pair.sensor, other].map { $0.take().compactMap(\.writeRequest).flatMap(\.writes).count }
        }
        #expect(write([note, output]) == [0, 0])
        #expect(write([output, note, note]) == [0, 0])
        #expect(answers == [.unlikelyError, .unlikelyError])
        #expect(write([note, note]) == [2, 0])
        #expect(write([output]) == [0, 1])
        #expect(answers.count == 2)
    }

    @Test func anAppThatLeavesAnswersWhatItOwes() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        _ = try pair.sensor.expect("readRequested", \.readRequest)
        pair.sensor.close()
        let value = try pair.central.expect("value", \.value)
        #expect(value.error?.code == .att(ATTStatus(rawValue: 0x0E)))
    }

    // MARK: Subscribers

    private func subscribed(_ pair: ConnectedPair) throws -> AttributeHandle {
        let measurement = try #require(try pair.connected()[Example.measurement])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
        _ = try pair.central.ask(subscribe, "subscribed", \.notifyState)
        #expect(try pair.sensor.expect("subscribed", \.subscriber).isSubscribed)
        return measurement
    }

    @Test("behaviour 7.40: a disconnection ends the subscriptions")
    func aDisconnectionUnsubscribes() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        pair.central.send(.cancelConnection(peer: pair.peer))
        #expect(try !pair.sensor.expect("unsubscribed", \.subscriber).isSubscribed)
    }

    /// A central that switches from notifications to indications stays the same subscriber to the app.
    @Test("behaviour 7.40: switching to the other kind of update is not reported as a new subscription")
    func anotherKindOfUpdateIsNoOtherSubscription() throws {
        let pair = try ConnectedPair()
        let measurement = try subscribed(pair)
        let attributes = pair.strap.system.attributes
        let session = try #require(pair.strap.system.links.all.first?.served)
        func told(_ old: ClientConfiguration, _ new: ClientConfiguration) -> [Bool] {
            pair.sensor.take()
            attributes.server(attributes.server, session: session, didConfigure: measurement, from: old, to: new)
            pair.world.run(.seconds(1))
            return pair.sensor.take().compactMap(\.subscriber).map(\.isSubscribed)
        }
        #expect(told(.notify, .indicate).isEmpty)
        #expect(told(.indicate, [.notify, .indicate]).isEmpty)
        #expect(told([.notify, .indicate], []) == [false])
        #expect(told([], .indicate) == [true])
    }

    @Test("behaviour 7.43: value updates return their credits in order")
    func updatesReturnTheirCreditsInOrder() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        pair.central.take()
        let count = ServiceLimits.valueUpdates
        for index in 0..<count {
            pair.sensor.send(
                .updateValue(characteristic: Example.measurementID, value: [UInt8(index)], centrals: nil)
            )
        }
        pair.world.run(.seconds(5))
        let credits = pair.sensor.take().compactMap(\.updateCredits)
        #expect(credits.reduce(0, +) == count)
        // Credits that the link returns at the same time arrive in one event.
        #expect(credits.count < count / 2)
        #expect(pair.central.take().compactMap(\.value) == (0..<count).map { .success([UInt8($0)]) })
    }

    @Test("behaviour 7.43: updates queued for a disconnected central return all their credits")
    func updatesThatWaitForNobodyGiveTheirCreditsBack() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        // Both the queue towards the central and the app's own queue are full.
        let count = 2 * ServiceLimits.valueUpdates
        for index in 0..<count {
            pair.sensor.send(
                .updateValue(characteristic: Example.measurementID, value: [UInt8(index)], centrals: nil)
            )
        }
        pair.strap.controller.loseLinks(.connectionTimeout)
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == count)
    }

    @Test("behaviour 7.42: only subscribers receive a value")
    func onlySubscribersAreTold() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        let stranger = pair.world.device("Watch").manager(.central)
        let found = try stranger.find().identifier
        try stranger.connect(found)
        _ = try stranger.explore(found)
        pair.central.take()
        pair.sensor.send(
            .updateValue(characteristic: Example.measurementID, value: [1], centrals: [UUID()])
        )
        pair.world.run(.seconds(1))
        #expect(pair.central.take().isEmpty)
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [2], centrals: nil))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().compactMap(\.value) == [.success([2])])
        #expect(stranger.take().compactMap(\.value).isEmpty)
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == 2)
    }

    @Test("behaviour 7.52: a central named repeatedly in an update gets the value once, and costs one credit")
    func anUpdateThatNamesACentralRepeatedly() throws {
        let pair = try ConnectedPair()
        let measurement = try #require(try pair.connected()[Example.measurement])
        pair.central.send(.setNotify(peer: pair.peer, characteristic: measurement, enabled: true))
        let central = try pair.sensor.expect("subscribed", \.subscriber).central.identifier
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.sensor.take()
        for (octet, count) in [(1, 3), (2, 256), (3, 1)] as [(UInt8, Int)] {
            let centrals = [UUID](repeating: central, count: count) + [UUID()]
            pair.sensor.send(
                .updateValue(
                    characteristic: Example.measurementID,
                    value: [octet],
                    centrals: Array(centrals.prefix(256))
                )
            )
        }
        pair.world.run(.seconds(1))
        #expect(pair.central.take().compactMap(\.value) == [.success([1]), .success([2]), .success([3])])
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == 3)
    }

    @Test("behaviour 7.44: value updates are truncated for each central")
    func updatesAreCutForEachCentral() throws {
        let pair = try ConnectedPair()
        _ = try subscribed(pair)
        pair.central.take()
        let long = PacketBuffer([UInt8](repeating: 7, count: 300))
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: long, centrals: nil))
        #expect(try pair.central.expect("value", \.value) == .success(long.prefix(upTo: 182)))
    }

    @Test func updatesForNobodyReturnTheirCredits() throws {
        let pair = try ConnectedPair()
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [1], centrals: nil))
        pair.sensor.send(.updateValue(characteristic: LocalAttributeID(99), value: [1], centrals: nil))
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == 2)
    }
}
