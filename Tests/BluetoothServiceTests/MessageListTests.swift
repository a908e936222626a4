import BluetoothTypes
import Foundation
import GAP
import Testing

@testable import BluetoothService
@testable import ServiceMessages

/// Lists in messages: each has the limit that its rule requires, on the wire and in the service.
@Suite struct MessageListTests {
    /// A list in a request or a query.
    struct List: Sendable, CustomTestStringConvertible {
        let name: String
        let limit: Int
        let message: @Sendable (Int) -> AppMessage
        /// Whether the service answers a longer list with an event.
        var isAnswered = false

        var testDescription: String { name }

        static func request(
            _ name: String,
            _ limit: Int,
            isAnswered: Bool = false,
            _ make: @escaping @Sendable (Int) -> Request
        ) -> List {
            List(name: name, limit: limit, message: { .request(ManagerID(1), make($0)) }, isAnswered: isAnswered)
        }

        static func query(_ name: String, _ limit: Int, _ make: @escaping @Sendable (Int) -> Query) -> List {
            List(name: name, limit: limit, message: { .query(ManagerID(1), number: 1, make($0)) }, isAnswered: true)
        }
    }

    private static let uuids: @Sendable (Int) -> [BluetoothUUID] = { [BluetoothUUID](repeating: 0x180D, count: $0) }
    private static let names: @Sendable (Int) -> [UUID] = { [UUID](repeating: .blank, count: $0) }

    private static func service(_ change: (inout LocalService) -> Void) -> Request {
        var service = LocalService(id: LocalAttributeID(1), uuid: 0x180D, isPrimary: true)
        change(&service)
        return .peripheral(.addService(service))
    }

    private static func characteristic(_ descriptors: Int) -> LocalCharacteristic {
        LocalCharacteristic(
            id: LocalAttributeID(2),
            uuid: 0x2A37,
            properties: 2,
            permissions: 1,
            descriptors: [LocalDescriptor](repeating: LocalDescriptor(uuid: 0x2901, value: []), count: descriptors)
        )
    }

    static let lists: [List] = [
        .request("services of a scan", 256) { .central(.startScan(ScanRequest(services: uuids($0)))) },
        .request("solicited services of a scan", 256) {
            .central(.startScan(ScanRequest(solicitedServices: uuids($0))))
        },
        .request("services of a watch", 4) {
            .central(.watchConnections(ConnectionWatch(services: uuids($0))))
        },
        .request("peripherals of a watch", 256) {
            .central(.watchConnections(ConnectionWatch(peers: names($0))))
        },
        .request("services to discover", 512, isAnswered: true) {
            .central(.peer(.blank, .link(.discoverServices(uuids($0)))))
        },
        .request("included services to discover", 512, isAnswered: true) {
            .central(.peer(.blank, .ask(7, .discoverIncludedServices(of: 1, uuids($0)))))
        },
        .request("characteristics to discover", 512, isAnswered: true) {
            .central(.peer(.blank, .ask(7, .discoverCharacteristics(of: 1, uuids($0)))))
        },
        .request("included services", 64, isAnswered: true) { count in
            service { $0.includedServices = [LocalAttributeID](repeating: LocalAttributeID(3), count: count) }
        },
        .request("characteristics", 512, isAnswered: true) { count in
            service { $0.characteristics = [LocalCharacteristic](repeating: characteristic(0), count: count) }
        },
        .request("descriptors", 64, isAnswered: true) { count in
            service { $0.characteristics = [characteristic(0), characteristic(count)] }
        },
        .request("advertised services", 128, isAnswered: true) {
            .peripheral(.startAdvertising(AdvertisingRequest(services: uuids($0))))
        },
        .request("service data", 16, isAnswered: true) { count in
            var request = AdvertisingRequest()
            request.serviceData = [LocalDescriptor](repeating: LocalDescriptor(uuid: 0x180D, value: []), count: count)
            return .peripheral(.startAdvertising(request))
        },
        .request("centrals of an update", 256, isAnswered: true) {
            .peripheral(.updateValue(LocalAttributeID(2), value: [1], centrals: names($0)))
        },
        .query("identifiers of a retrieval", 1_024) { .peripherals(identifiers: names($0)) },
        .query("services of a retrieval", 256) { .connectedPeripherals(services: uuids($0)) },
    ]

    private func error(_ message: AppMessage) -> ServiceError? {
        switch message {
        case .request(_, let request): request.listError
        case .query(_, _, let query): query.listError
        case .openManager, .closeManager, .misuse, .eventsRead, .callSite, .note, .place: nil
        }
    }

    @Test("AB-G05: a list has a maximum length, and a longer one cannot be decoded", arguments: lists)
    func theBoundOnTheWire(list: List) throws {
        let longest = list.message(list.limit)
        #expect(try AppMessage(reading: longest.encoded()) == longest)
        #expect(error(longest) == nil)
        let tooLong = list.message(list.limit + 1)
        let refusal = #expect(throws: PacketError.self) { try AppMessage(reading: tooLong.encoded()) }
        #expect(refusal?.cause == .excess(list.limit + 1, limit: list.limit))
        #expect("\(try #require(refusal))".contains("\(list.limit + 1) elements exceed the limit of \(list.limit)"))
        // The app's library reports it first.
        let reason = try #require(error(tooLong)?.reason)
        #expect(reason.hasPrefix("\(list.limit + 1) ") && reason.hasSuffix("the limit of \(list.limit)"))
    }

    @Test(
        "AB-G05: in one process, a request beyond a limit is refused, and its app is notified and continues",
        arguments: lists
    )
    func theBoundWithoutAWire(list: List) throws {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        var misuses: [String] = []
        phone.system.observers.add(.misuse) { if case .misused(let text, _) = $0.content { misuses.append(text) } }
        let manager = phone.manager(list.role)
        manager.take()
        switch list.message(list.limit + 1) {
        case .request(_, let request):
            manager.send(request)
            world.run(.zero)
            #expect(manager.take() == [request.refusal(try #require(request.listError))].compactMap { $0 })
            #expect(misuses.count == 1 && misuses[0].contains("the limit of \(list.limit)"))
            #expect((request.refusal(ServiceError()) != nil) == list.isAnswered)
        case .query(_, _, let query):
            #expect(manager.connection.ask(query, from: manager.id) == .failure(try #require(query.listError)))
        case .openManager, .closeManager, .misuse, .eventsRead, .callSite, .note, .place:
            Issue.record("nothing is asked")
        }
        #expect(manager.connection.ask(.system, from: .none).map { _ in true } == .success(true))
    }

    @Test("AB-G05: lists in events to apps are bounded too")
    func listsOfEvents() {
        func isRead(_ event: Event) -> Bool {
            let message = ServiceMessage.event(ManagerID(1), event)
            return (try? ServiceMessage(reading: message.encoded())) == message
        }
        func restored(_ peers: Int) -> Event {
            .central(.willRestore(RestoredCentral(peers: [RestoredPeer](repeating: RestoredPeer(), count: peers))))
        }
        #expect(isRead(restored(256)))
        #expect(!isRead(restored(257)))
        func services(_ count: Int) -> Event {
            .central(
                .peer(.blank, .servicesDiscovered(.success([RemoteService](repeating: RemoteService(), count: count))))
            )
        }
        #expect(isRead(services(256)))
        #expect(!isRead(services(257)))
        func writes(_ count: Int) -> Event {
            let writes = [WriteRequest](repeating: WriteRequest(), count: count)
            return .peripheral(.writeRequested(transaction: 1, CentralInfo(), writes, needsResponse: true))
        }
        #expect(isRead(writes(128)))
        #expect(!isRead(writes(129)))
    }

    @Test("AB-G05: a text that is too long is cut between characters, so that it can be decoded")
    func aLongText() throws {
        let message = AppMessage.misuse("a" + String(repeating: "ä", count: MessageLimits.text))
        let cut = AppMessage.misuse("a" + String(repeating: "ä", count: (MessageLimits.text - 1) / 2))
        #expect(try AppMessage(reading: message.encoded()) == cut)
    }

    @Test(
        "AB-G05: matching costs the same for every scan, even for 256 services that share bits of the overflow area"
    )
    func matchingIsHashed() throws {
        let wanted = (0..<256).map { BluetoothUUID(UInt16(0x4000 + $0)) }
        let filter = ScanFilter(ScanRequest(services: wanted))
        let area = OverflowArea(wanted)
        func heard(_ structures: [AdvertisingStructure]) -> ReceivedAdvertisement {
            ReceivedAdvertisement(
                Sighting(
                    address: BluetoothAddress(1, kind: .publicDevice),
                    data: AdvertisingData(structures),
                    isConnectable: true,
                    hasScanResponse: false,
                    rssi: -50
                )
            )
        }
        let hinted = heard([area.structure])
        #expect(filter.matches(hinted))
        #expect(filter.hints(in: hinted) == wanted)
        // Matches the rule evaluated service by service.
        let others = (0..<64).map { OverflowArea([BluetoothUUID(UInt16(0x1800 + $0))]) }
        let few = ScanFilter(ScanRequest(services: Array(wanted.prefix(20))))
        for other in others {
            let advertisement = heard([other.structure])
            let expected = wanted.prefix(20).filter { other.mayContain($0) }
            #expect(few.hints(in: advertisement) == expected)
            #expect(few.matches(advertisement) == !expected.isEmpty)
        }
        #expect(!filter.matches(heard([.services([0x1234], width: .bits16, isComplete: true)])))
    }
}

extension MessageListTests.List {
    fileprivate var role: ManagerRole {
        if case .request(_, .peripheral) = message(0) { .peripheral } else { .central }
    }
}
