import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Attributes in the central role: discovery, reads, writes and subscriptions.
@Suite struct CentralAttributeTests {
    @Test("behaviour 4.1: only requested services are discovered, and no list means all")
    func onlyListedServicesAreFoundAndNoneMeansAll() throws {
        let pair = try ConnectedPair()
        try pair.sensorAlsoPublishes(0x180F)
        try pair.central.connect(pair.peer)
        func found(_ uuids: [BluetoothUUID]?) throws -> [BluetoothUUID] {
            let request = Request.discoverServices(peer: pair.peer, uuids: uuids)
            return try pair.central.ask(request, "services", \.services).get().map(\.uuid)
        }
        #expect(try found([0x1805]) == [])
        #expect(try found([0x180F]) == [0x180F])
        // Behaviour 4.2: services found before are returned again. Behaviour 4.5: the system's own services are hidden.
        #expect(try found([Example.service]) == [Example.service, 0x180F])
        #expect(try found([]) == [Example.service, 0x180F])
        #expect(
            try pair.central.ask(.discoverServices(peer: pair.peer, uuids: nil), "services", \.services).get().count
                == 2
        )
    }

    @Test("behaviour 4.2: characteristics are discovered by UUID and added to the known ones")
    func characteristicsAreFoundIncrementally() throws {
        let pair = try ConnectedPair().linked()
        let services = try pair.central.ask(
            .discoverServices(peer: pair.peer, uuids: nil),
            "services",
            \.services
        )
        let service = try #require(try services.get().first)
        func found(_ uuids: [BluetoothUUID]?) throws -> [BluetoothUUID] {
            let request = Request.discoverCharacteristics(peer: pair.peer, service: service.handle, uuids: uuids)
            return try pair.central.ask(request, "characteristics", \.characteristics).get().map(\.uuid)
        }
        #expect(try found([Example.note]) == [Example.note])
        #expect(try found([Example.measurement]) == [Example.measurement, Example.note])
        #expect(try found(nil).count == 4)
        let unknown = Request.discoverCharacteristics(peer: pair.peer, service: 0x7777, uuids: nil)
        let failure = try pair.central.ask(unknown, "characteristics", \.characteristics)
        #expect(failure.error?.code == .core(.invalidHandle))
    }

    @Test func includedServicesAndDescriptorsAreFound() throws {
        let world = ServiceWorld()
        let central = world.device("Phone").manager(.central)
        let sensor = world.device("Strap").manager(.peripheral)
        let battery = LocalService(id: LocalAttributeID(70), uuid: 0x180F, isPrimary: false)
        _ = try sensor.ask(.addService(battery), "serviceAdded", \.serviceAdded)
        var service = Example.heartRate
        service.includedServices = [battery.id]
        try sensor.publish(service)
        let peer = try central.find().identifier
        try central.connect(peer)
        let handles = try central.explore(peer)
        let services = try central.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services).get()
        let including = try #require(services.first { $0.uuid == Example.service })
        let request = Request.discoverIncludedServices(peer: peer, service: including.handle, uuids: nil)
        let included = try central.ask(request, "included", \.services).get()
        #expect(included.map(\.uuid) == [0x180F])
        #expect(included.first?.isPrimary == false)

        let location = try #require(handles[Example.location])
        let descriptors = try central.ask(
            .discoverDescriptors(peer: peer, characteristic: location),
            "descriptors",
            \.descriptors
        ).get()
        #expect(descriptors.map(\.uuid) == [0x2901])
        let descriptor = try #require(descriptors.first?.handle)
        let value = try central.ask(.readDescriptor(peer: peer, descriptor: descriptor), "descriptor") { event in
            if case .central(.peer(_, .descriptorUpdated(descriptor, let value))) = event { value } else { nil }
        }
        #expect(value == .success(PacketBuffer(Array("Where".utf8))))
    }

    @Test("behaviour 5.2: an app reads a long value as a whole")
    func aLongValueIsReadAsAWhole() throws {
        let long = PacketBuffer((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        var service = Example.heartRate
        service.characteristics[1].value = long
        let pair = try ConnectedPair(service)
        let location = try #require(try pair.connected()[Example.location])
        let value = try pair.central.ask(
            .readCharacteristic(peer: pair.peer, characteristic: location),
            "value",
            \.value
        )
        #expect(value == .success(long))
    }

    @Test("behaviour 5.4: a refused request fails with the peer's error code")
    func aRefusalHasTheCodeOfThePeer() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        let controlPoint = try #require(handles[Example.controlPoint])
        let value = try pair.central.ask(
            .readCharacteristic(peer: pair.peer, characteristic: controlPoint),
            "value",
            \.value
        )
        // Behaviour 7.38.
        #expect(value.error?.code == .att(ATTStatus(rawValue: 0x02)))
        let location = try #require(handles[Example.location])
        let write = Request.writeCharacteristic(peer: pair.peer, characteristic: location, value: [2])
        #expect(try pair.central.ask(write, "written", \.writeResult)?.code == .att(ATTStatus(rawValue: 0x03)))
        let nowhere = Request.readCharacteristic(peer: pair.peer, characteristic: 0x7777)
        #expect(try pair.central.ask(nowhere, "value", \.value).error?.code == .core(.invalidHandle))
    }

    @Test("behaviour 5.9: a long value is written by prepare and execute requests")
    func longValuesArePreparedAndExecuted() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        let long = PacketBuffer((0..<400).map { UInt8(truncatingIfNeeded: $0) })
        pair.central.send(.writeCharacteristic(peer: pair.peer, characteristic: note, value: long))
        // Behaviour 7.34: prepared parts arrive as one batch, in order.
        let request = try pair.sensor.expect("writeRequested", \.writeRequest)
        #expect(request.needsResponse)
        #expect(request.writes.count == 3)
        #expect(request.writes.flatMap { Array($0.value) } == Array(long))
        #expect(request.writes.map(\.offset) == [0, 180, 360])
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: nil))
        #expect(try pair.central.expect("written", \.writeResult) == .some(nil))
    }

    @Test("behaviour 5.13: writes without response return their credits")
    func commandsReturnTheirCredits() throws {
        let pair = try ConnectedPair()
        let controlPoint = try #require(try pair.connected()[Example.controlPoint])
        let count = ServiceLimits.writesWithoutResponse
        for index in 0..<count {
            pair.central.send(
                .writeWithoutResponse(peer: pair.peer, characteristic: controlPoint, value: [UInt8(index)])
            )
        }
        pair.world.run(.seconds(2))
        let credits = pair.central.take().compactMap(\.writeCredits)
        #expect(credits.reduce(0, +) == count)
        // Credits that the link returns at the same time arrive in one event.
        #expect(credits.count < count / 2)
        let writes = pair.sensor.take().compactMap(\.writeRequest)
        #expect(writes.flatMap(\.writes).map(\.value) == (0..<count).map { [UInt8($0)] })
        #expect(writes.allSatisfy { !$0.needsResponse })
        // Behaviour 7.36: a response to a write command is dropped.
        pair.sensor.send(.respond(transaction: try #require(writes.first).transaction, status: .success, value: nil))
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().isEmpty)
    }

    @Test("behaviour 5.12: a write without response to an attribute that does not support it is dropped")
    func aCommandToAnAttributeThatTakesNoneIsDropped() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.send(.writeWithoutResponse(peer: pair.peer, characteristic: note, value: [1]))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().compactMap(\.writeCredits) == [1])
        #expect(pair.sensor.take().isEmpty)
    }

    @Test("behaviour 5.18: two apps share one subscription")
    func twoAppsShareASubscription() throws {
        let pair = try ConnectedPair()
        let measurement = try #require(try pair.connected()[Example.measurement])
        let other = pair.phone.manager(.central)
        try other.connect(pair.peer)
        _ = try other.explore(pair.peer)
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
        #expect(try pair.central.ask(subscribe, "subscribed", \.notifyState).isNotifying)
        #expect(try other.ask(subscribe, "subscribed", \.notifyState).isNotifying)
        #expect(pair.sensor.take().compactMap(\.subscriber).count == 1)

        func update(_ octet: UInt8) {
            pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [octet], centrals: nil))
            pair.world.run(.seconds(1))
        }
        update(1)
        #expect(pair.central.take().compactMap(\.value) == [.success([1])])
        #expect(other.take().compactMap(\.value) == [.success([1])])
        let unsubscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: false)
        #expect(try !other.ask(unsubscribe, "unsubscribed", \.notifyState).isNotifying)
        update(2)
        #expect(pair.central.take().compactMap(\.value) == [.success([2])])
        #expect(other.take().isEmpty)
        #expect(try !pair.central.ask(unsubscribe, "unsubscribed", \.notifyState).isNotifying)
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().compactMap(\.subscriber?.isSubscribed) == [false])
    }

    /// Cancelling the connection also ends the app's subscriptions, even though other apps keep the link.
    @Test("behaviour 5.18: a subscription ends with the connection of its app")
    func aSubscriptionEndsWithTheConnectionOfItsApp() throws {
        let pair = try ConnectedPair()
        let measurement = try #require(try pair.connected()[Example.measurement])
        let other = pair.phone.manager(.central)
        try other.connect(pair.peer)
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
        #expect(try pair.central.ask(subscribe, "subscribed", \.notifyState).isNotifying)
        #expect(try pair.sensor.expect("subscribed", \.subscriber).isSubscribed)
        pair.central.send(.cancelConnection(peer: pair.peer))
        #expect(try !pair.sensor.expect("unsubscribed", \.subscriber).isSubscribed)
        #expect(pair.phone.system.links.all.count == 1)
    }

    @Test("behaviour 5.16: indications are used only without support for notifications")
    func indicationsAreChosenWhenThereIsNothingElse() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: note, enabled: true)
        #expect(try pair.central.ask(subscribe, "subscribed", \.notifyState).isNotifying)
        for octet: UInt8 in 1...3 {
            pair.sensor.send(.updateValue(characteristic: Example.noteID, value: [octet], centrals: nil))
        }
        pair.world.run(.seconds(1))
        #expect(pair.central.take().compactMap(\.value) == [.success([1]), .success([2]), .success([3])])
        #expect(pair.sensor.take().compactMap(\.updateCredits).reduce(0, +) == 3)
    }

    @Test func aCharacteristicThatTellsNothingCannotBeSubscribedTo() throws {
        let pair = try ConnectedPair()
        let location = try #require(try pair.connected()[Example.location])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: location, enabled: true)
        let state = try pair.central.ask(subscribe, "notifyState", \.notifyState)
        #expect(!state.isNotifying)
        #expect(state.error?.code == .att(ATTStatus(rawValue: 0x06)))
    }

    @Test("behaviour 4.7: apps cannot write the client configuration")
    func theClientConfigurationIsNotWrittenByApps() throws {
        let pair = try ConnectedPair()
        let measurement = try #require(try pair.connected()[Example.measurement])
        let descriptors = try pair.central.ask(
            .discoverDescriptors(peer: pair.peer, characteristic: measurement),
            "descriptors",
            \.descriptors
        ).get()
        let configuration = try #require(descriptors.first { $0.uuid == 0x2902 }?.handle)
        let write = Request.writeDescriptor(peer: pair.peer, descriptor: configuration, value: [1, 0])
        #expect(try pair.central.ask(write, "written", \.writeResult)?.code == .core(.invalidParameters))
    }

    @Test("behaviour 4.13: services that changed are invalid for the app")
    func servicesThatChangeAreDead() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.sensor.send(.removeService(Example.serviceID))
        let invalidated = try pair.central.expect("servicesModified") { event -> [AttributeHandle]? in
            if case .central(.peer(_, .servicesModified(let invalidated))) = event { invalidated } else { nil }
        }
        let note = try #require(handles[Example.note])
        #expect(invalidated.contains(note))
        // Behaviour 4.16.
        let read = Request.readCharacteristic(peer: pair.peer, characteristic: note)
        #expect(try pair.central.ask(read, "value", \.value).error?.code == .core(.invalidHandle))
        let services = try pair.central.ask(.discoverServices(peer: pair.peer, uuids: nil), "services", \.services)
        #expect(try services.get().isEmpty)
        // Behaviour 4.15: each change is reported.
        _ = try pair.sensor.ask(.addService(Example.heartRate), "serviceAdded", \.serviceAdded)
        _ = try pair.central.expect("servicesModified") { event -> Bool? in
            if case .central(.peer(_, .servicesModified)) = event { true } else { nil }
        }
        #expect(try pair.central.explore(pair.peer).count == 4)
    }

    /// The service published in its place has the same handles but is a different service, so subscribing needs a write
    /// on the air.
    @Test("behaviour 4.13: a subscription ends with its service")
    func aSubscriptionGoesWithItsService() throws {
        let pair = try ConnectedPair()
        try pair.useUpHandles()
        func subscribe() throws -> AttributeHandle {
            let measurement = try #require(try pair.central.explore(pair.peer)[Example.measurement])
            let request = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
            #expect(try pair.central.ask(request, "subscribed", \.notifyState).isNotifying)
            #expect(try pair.sensor.expect("subscribed", \.subscriber).isSubscribed)
            return measurement
        }
        try pair.central.connect(pair.peer)
        let old = try subscribe()
        pair.world.run(.seconds(1))
        pair.sensor.send(.removeService(Example.serviceID))
        _ = try pair.sensor.ask(.addService(Example.heartRate), "serviceAdded", \.serviceAdded)
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.sensor.take()
        #expect(try subscribe() == old)
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [7], centrals: nil))
        #expect(try pair.central.expect("value", \.value) == .success([7]))
    }

    @Test("behaviour 5.22: responses arrive in the order of the requests")
    func answersComeInTheOrderOfAsking() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        let (note, location) = (try #require(handles[Example.note]), try #require(handles[Example.location]))
        pair.central.take()
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: location))
        pair.central.send(.discoverServices(peer: pair.peer, uuids: nil))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().filter { $0.value != nil || $0.services != nil }.isEmpty)
        let request = try pair.sensor.expect("readRequested", \.readRequest)
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: [9]))
        pair.world.run(.seconds(1))
        let events = pair.central.take()
        #expect(events.compactMap(\.value) == [.success([9]), .success([1])])
        #expect(events.last?.services != nil)
    }

    @Test("behaviours 5.23, 14.20: a link to a peer that does not respond for 30 s is lost")
    func aPeerThatDoesNotAnswerLosesTheLink() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        pair.world.run(.seconds(29))
        pair.central.take()
        pair.world.run(.seconds(2))
        let events = pair.central.take()
        #expect(events.count == 1)
        #expect(events.first?.disconnection?.error?.code == .core(.connectionTimeout))
    }

    /// A manager that exceeds its credits has at most that many writes pending; the rest is dropped.
    @Test("AB-G05: pending writes without response are bounded")
    func commandsThatWaitAreBounded() throws {
        let pair = try ConnectedPair()
        let controlPoint = try #require(try pair.connected()[Example.controlPoint])
        pair.world.run(.seconds(1))
        pair.central.take()
        for octet in 0..<200 as Range<UInt8> {
            pair.central.send(.writeWithoutResponse(peer: pair.peer, characteristic: controlPoint, value: [octet]))
        }
        pair.world.run(.seconds(5))
        let writes = pair.sensor.take().compactMap(\.writeRequest).flatMap(\.writes).map(\.value)
        #expect(writes.count < 100)
        #expect(writes == (0..<UInt8(writes.count)).map { [$0] })
        #expect(pair.central.take().compactMap(\.writeCredits).reduce(0, +) == writes.count)
    }

    @Test("AB-G05: an app's pending requests on a link are bounded")
    func requestsOnALinkAreBounded() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        pair.central.take()
        for _ in 0..<(ServiceLimits.linkRequests.app + 10) {
            pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        }
        pair.world.run(.seconds(1))
        let refused = pair.central.take().compactMap(\.value)
        #expect(refused.count == 9)
        #expect(refused.allSatisfy { $0.error?.code == .core(.outOfSpace) })
    }

    @Test("behaviour 4.5: the system's own services are hidden from apps")
    func servicesOfTheSystemAreHidden() throws {
        let pair = try ConnectedPair()
        let notificationCenter = BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0)
        try pair.sensorAlsoPublishes(0x1812)
        try pair.sensorAlsoPublishes(notificationCenter, as: 51)
        try pair.central.connect(pair.peer)
        for wanted in [nil, [0x1800, 0x1801, 0x1812, notificationCenter, Example.service]] as [[BluetoothUUID]?] {
            let request = Request.discoverServices(peer: pair.peer, uuids: wanted)
            #expect(try pair.central.ask(request, "services", \.services).get().map(\.uuid) == [Example.service])
        }
    }

    @Test("behaviour 0.6: a secondary service is found only through the service that includes it")
    func secondaryServicesAreFoundByInclusion() throws {
        let pair = try ConnectedPair()
        let inner = LocalService(id: LocalAttributeID(50), uuid: 0xFFF5, isPrimary: false)
        let outer = LocalService(
            id: LocalAttributeID(51),
            uuid: 0xFFF6,
            isPrimary: true,
            includedServices: [inner.id]
        )
        for service in [inner, outer] {
            #expect(try pair.sensor.ask(.addService(service), "serviceAdded", \.serviceAdded) == .some(nil))
        }
        try pair.central.connect(pair.peer)
        let all = Request.discoverServices(peer: pair.peer, uuids: nil)
        let services = try pair.central.ask(all, "services", \.services).get()
        #expect(Set(services.map(\.uuid)) == [Example.service, 0xFFF6])
        #expect(services.allSatisfy { $0.isPrimary })
        let handle = try #require(services.first { $0.uuid == 0xFFF6 }?.handle)
        let request = Request.discoverIncludedServices(peer: pair.peer, service: handle, uuids: nil)
        let included = try pair.central.ask(request, "included", \.services).get()
        #expect(included.map(\.uuid) == [0xFFF5])
        #expect(included.map(\.isPrimary) == [false])
    }

    @Test("behaviour 4.19: discoveries are reported in the order of the requests")
    func discoveriesComeInTheOrderOfAsking() throws {
        let pair = try ConnectedPair()
        try pair.sensorAlsoPublishes(0xFFF5)
        try pair.central.connect(pair.peer)
        let all = Request.discoverServices(peer: pair.peer, uuids: nil)
        let services = try pair.central.ask(all, "services", \.services).get().map(\.handle)
        pair.world.run(.seconds(2))
        pair.central.take()
        for handle in services.reversed() {
            pair.central.send(.discoverCharacteristics(peer: pair.peer, service: handle, uuids: nil))
            pair.central.send(.discoverIncludedServices(peer: pair.peer, service: handle, uuids: nil))
        }
        pair.central.send(all)
        pair.world.run(.seconds(2))
        let told = pair.central.take().compactMap { event -> String? in
            switch event {
            case .central(.peer(_, .characteristicsDiscovered(let handle, _))): "characteristics \(handle)"
            case .central(.peer(_, .includedServicesDiscovered(let handle, _))): "included \(handle)"
            case .central(.peer(_, .servicesDiscovered)): "services"
            default: nil
            }
        }
        #expect(told == services.reversed().flatMap { ["characteristics \($0)", "included \($0)"] } + ["services"])
    }

    /// Some apps start to wait for an answer only after they have asked.
    @Test("an answer from the cache takes as long as one from another process, and keeps its place")
    func answersFromTheCacheTakeTheirTime() throws {
        let pair = try ConnectedPair().linked()
        let all = Request.discoverServices(peer: pair.peer, uuids: nil)
        _ = try pair.central.ask(all, "services", \.services).get()
        pair.world.run(.seconds(2))
        pair.central.take()
        pair.central.send(all)
        pair.central.send(all)
        pair.world.run(.microseconds(249))
        #expect(pair.central.take().compactMap(\.services).isEmpty)
        pair.world.run(.microseconds(1))
        #expect(pair.central.take().compactMap(\.services).count == 1)
        pair.world.run(.microseconds(250))
        #expect(pair.central.take().compactMap(\.services).count == 1)
    }

    @Test("behaviours 4.20, 3.25: a discovery that the peer never answers ends with the connection")
    func aDiscoveryThatIsNotAnsweredEnds() throws {
        let pair = try ConnectedPair().linked()
        pair.strap.controller.transport.onReceive = { _ in }
        pair.central.send(.discoverServices(peer: pair.peer, uuids: nil))
        pair.world.run(.seconds(29))
        #expect(pair.central.take().compactMap(\.services).isEmpty)
        let end = try pair.central.expect("disconnected", \.disconnection)
        #expect(end.error?.code == .core(.connectionTimeout))
        pair.world.run(.seconds(60))
        #expect(pair.central.take().isEmpty)
    }

    @Test("behaviours 5.3, 14.21: a value has 512 octets at most")
    func aValueHas512Octets() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        func write(_ count: Int) -> Request {
            let value = PacketBuffer([UInt8](repeating: 1, count: count))
            return .writeCharacteristic(peer: pair.peer, characteristic: note, value: value)
        }
        let refusal = try pair.central.ask(write(513), "written", \.writeResult)
        #expect(refusal?.code == .att(ATTStatus(rawValue: 0x0D)))
        #expect(pair.sensor.take().compactMap(\.writeRequest).isEmpty)
        pair.central.send(write(512))
        let request = try pair.sensor.expect("writeRequested", \.writeRequest)
        #expect(request.writes.reduce(0) { $0 + $1.value.count } == 512)
        pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: nil))
        #expect(try pair.central.expect("written", \.writeResult) == .some(nil))
    }

    @Test("behaviour 5.19: a subscription ends with the connection, and is written again on the next")
    func subscriptionsAreMadeAnewOnEachConnection() throws {
        let pair = try ConnectedPair()
        for _ in 1...2 {
            let measurement = try #require(try pair.connected()[Example.measurement])
            pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [1], centrals: nil))
            pair.world.run(.seconds(1))
            #expect(pair.central.take().compactMap(\.value).isEmpty)
            pair.sensor.take()
            let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
            #expect(try pair.central.ask(subscribe, "subscribed", \.notifyState).isNotifying)
            #expect(try pair.sensor.expect("subscribed", \.subscriber).isSubscribed)
            pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: [2], centrals: nil))
            #expect(try pair.central.expect("value", \.value) == .success([2]))
            _ = try pair.central.ask(.cancelConnection(peer: pair.peer), "disconnected", \.disconnection)
            pair.world.run(.seconds(1))
        }
    }

    @Test("behaviour 5.21: a notification is truncated, and a read returns the whole value")
    func aReadHasTheRestOfANotification() throws {
        var service = Example.heartRate
        service.characteristics[0].properties = 0x12
        let pair = try ConnectedPair(service)
        let measurement = try #require(try pair.connected()[Example.measurement])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
        _ = try pair.central.ask(subscribe, "subscribed", \.notifyState)
        pair.world.run(.seconds(1))
        let long = PacketBuffer((0..<300).map { UInt8(truncatingIfNeeded: $0) })
        pair.sensor.send(.updateValue(characteristic: Example.measurementID, value: long, centrals: nil))
        #expect(try pair.central.expect("value", \.value) == .success(long.prefix(upTo: 182)))
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: measurement))
        for offset in [0, 184] {
            let request = try pair.sensor.expect("readRequested", \.readRequest)
            #expect(request.offset == offset)
            let rest = long.suffix(after: offset)
            pair.sensor.send(.respond(transaction: request.transaction, status: .success, value: rest))
        }
        #expect(try pair.central.expect("value", \.value) == .success(long))
    }
}

extension ConnectedPair {
    /// Publishes and removes so many attributes that handles are reused from here on.
    func useUpHandles() throws {
        for (count, times) in [(240, 140), (100, 40), (10, 40), (1, 40)] {
            var service = LocalService(id: LocalAttributeID(70), uuid: 0x1234, isPrimary: true)
            service.characteristics = (0..<UInt32(count)).map { number in
                LocalCharacteristic(id: LocalAttributeID(100 + number), uuid: 0x2A00, properties: 2, permissions: 1)
            }
            for _ in 0..<times {
                #expect(try sensor.ask(.addService(service), "serviceAdded", \.serviceAdded) == .some(nil))
                sensor.send(.removeService(service.id))
            }
        }
        world.run(.seconds(1))
    }

    func sensorAlsoPublishes(_ uuid: BluetoothUUID, as number: UInt32 = 50) throws {
        let service = LocalService(id: LocalAttributeID(number), uuid: uuid, isPrimary: true)
        #expect(try sensor.ask(.addService(service), "serviceAdded", \.serviceAdded) == .some(nil))
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
