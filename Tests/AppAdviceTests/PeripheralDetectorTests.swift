import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// The limits of the detectors of peripheral managers, the events that make them begin anew, and their bounds.
@Suite struct PeripheralDetectorTests {
    private static func peer(_ number: Int) -> UUID {
        let (high, low) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low))
    }

    private static func central(_ id: UUID, length: Int = 512) -> CentralInfo {
        CentralInfo(identifier: id, maximumUpdateLength: length)
    }

    private static func bytes(_ count: Int) -> PacketBuffer { PacketBuffer([UInt8](repeating: 1, count: count)) }

    private static func service(
        _ id: UInt32,
        _ uuid: BluetoothUUID = 0x180D,
        values: [UInt32] = [],
        properties: UInt16 = 0x12,
        permissions: UInt8 = 0x01
    ) -> LocalService {
        LocalService(
            id: LocalAttributeID(id),
            uuid: uuid,
            isPrimary: true,
            characteristics: values.map {
                LocalCharacteristic(
                    id: LocalAttributeID($0),
                    uuid: 0x2A37,
                    properties: properties,
                    permissions: permissions
                )
            }
        )
    }

    private static let value = LocalAttributeID(101)

    /// An app some time after its launch, which publishes values.
    private static func app(values: [UInt32] = [101], properties: UInt16 = 0x12) -> AdvisedApp {
        var app = AdvisedApp(.peripheral)
        app.wait(5)
        app.ask(.addService(service(1, values: values, properties: properties)))
        return app
    }

    private static let advertise = PeripheralRequest.startAdvertising(AdvertisingRequest(localName: "a", services: []))

    private static func write(_ transaction: UInt64, from central: UUID, _ counts: [Int], needsResponse: Bool = false)
        -> PeripheralEvent
    {
        .writeRequested(
            transaction: transaction,
            Self.central(central),
            counts.map { WriteRequest(characteristic: value, offset: 0, value: bytes($0)) },
            needsResponse: needsResponse
        )
    }

    // MARK: Advertising

    @Test("behaviour 12.14: advertising goes on for exactly 30 s after the first central, whatever shows that it came")
    func centrals() {
        let signs: [PeripheralEvent] = [
            .subscribed(Self.central(.other), Self.value),
            .readRequested(transaction: 1, Self.central(.other), Self.value, offset: 0),
            Self.write(1, from: .other, [1]), .channelOpened(psm: 0x80, Self.central(.other), ChannelID(1)),
            .centralConnected(Self.central(.other)),
        ]
        for sign in signs {
            var app = Self.app()
            app.ask(Self.advertise)
            app.wait(300)
            app.report(sign)
            if case .readRequested = sign { app.ask(.respond(transaction: 1, .success, value: nil)) }
            app.wait(20)
            app.report(.subscribed(Self.central(.sensor), Self.value))
            app.wait(10)
            #expect(app.rules == [], "\(sign)")
            app.wait(0.001)
            #expect(app.advice.map(\.found) == ["still advertised 30 s after a central had come"], "\(sign)")
            app.wait(1_000)
            #expect(app.rules == ["12.14"])
        }
    }

    @Test("behaviour 12.14: what is no sign of a central does not count as one")
    func noCentral() {
        var app = Self.app()
        app.ask(Self.advertise)
        app.report(.advertisingStarted(nil, number: 0))
        app.report(.unsubscribed(Self.central(.other), Self.value))
        app.report(.centralChanged(Self.central(.other)))
        app.wait(31)
        #expect(app.rules == [])
        app.wait(570)
        #expect(app.advice.map(\.found) == ["advertised for more than 10 min, and no central came"])
    }

    @Test("behaviour 12.14: advertising that could not start, or that ended with the radio, does not go on")
    func noAdvertising() {
        var failed = Self.app()
        failed.ask(Self.advertise)
        failed.report(.advertisingStarted(ServiceError(.connectionFailed), number: 0))
        failed.wait(1_000)
        #expect(failed.rules == [])
        var off = Self.app()
        off.ask(Self.advertise)
        off.report(.stateChanged(.poweredOff))
        off.report(.stateChanged(.poweredOn))
        off.wait(1_000)
        #expect(off.rules == [])
        var again = Self.app()
        again.ask(Self.advertise)
        again.wait(590)
        // The same call again is no new beginning.
        again.ask(Self.advertise)
        again.wait(11)
        #expect(again.rules == ["12.14"])
    }

    @Test("behaviours 12.14, 12.15: a restored manager that still advertises goes on, and one that does not is right")
    func restored() {
        for isAdvertising in [true, false] {
            var app = AdvisedApp(.peripheral, isOn: false)
            let request = AdvertisingRequest(localName: "a", services: [])
            app.report(.willRestore(RestoredPeripheral(services: [], advertising: isAdvertising ? request : nil)))
            app.report(.stateChanged(.poweredOn))
            app.wait(601)
            #expect(app.rules == (isAdvertising ? ["12.14"] : []))
        }
    }

    @Test("behaviour 12.16: the advice counts the services, and names up to four that did not fit")
    func overfull() {
        func long(_ number: Int) -> BluetoothUUID? { BluetoothUUID("6E40000\(number)-B5A3-F393-E0A9-E50E24DCCA9E") }
        func found(_ numbers: ClosedRange<Int>) -> String? {
            var app = Self.app()
            let services = numbers.compactMap(long)
            app.ask(.startAdvertising(AdvertisingRequest(localName: nil, services: services)))
            return app.advice.first { $0.rule == .fittingAdvertisement }?.found
        }
        let names = (2...5).map { "6E40000\($0)-B5A3-F393-E0A9-E50E24DCCA9E" }
        #expect(found(1...1) == nil)
        #expect(
            found(1...2)
                == "advertised 2 services, of which 1 did not fit and went to the overflow area: \(names[0])"
        )
        #expect(
            found(1...7)
                == "advertised 7 services, of which 6 did not fit and went to the overflow area: "
                + names.joined(separator: ", ")
        )
    }

    @Test("behaviour 12.16: a service that does not fit and a shortened name are two causes")
    func overfullTwice() {
        var app = Self.app()
        let services = (1...2).compactMap { BluetoothUUID("6E40000\($0)-B5A3-F393-E0A9-E50E24DCCA9E") }
        let request = AdvertisingRequest(localName: "Sensor with a long name", services: services)
        for _ in 0..<2 {
            app.ask(.startAdvertising(request))
            app.ask(.stopAdvertising)
        }
        #expect(app.advice.map(\.count) == [2, 2])
    }

    // MARK: Services

    @Test("behaviour 12.18: values with write or write without response need the permission that encrypts")
    func openWrites() {
        for bit in 0..<16 {
            var app = AdvisedApp(.peripheral)
            app.ask(.addService(Self.service(1, values: [101], properties: 1 << UInt16(bit), permissions: 0x02)))
            #expect(app.rules == ([2, 3].contains(bit) ? ["12.18"] : []), "property \(bit)")
        }
        for bit in 0..<8 {
            var app = AdvisedApp(.peripheral)
            app.ask(.addService(Self.service(1, values: [101], properties: 0x08, permissions: 1 << UInt8(bit))))
            #expect(app.rules == (bit == 3 ? [] : ["12.18"]), "permission \(bit)")
        }
        var app = AdvisedApp(.peripheral)
        app.ask(.addService(Self.service(1, values: [101, 102], properties: 0x08, permissions: 0x02)))
        #expect(app.advice.count == 2)
        #expect(app.advice[0].found == "published Heart Rate Measurement (2A37), which every device in range may write")
    }

    @Test("behaviour 12.26: the widths of UUIDs may change once, and each way to have too many services is told once")
    func services() {
        let long = BluetoothUUID("6E400001-B5A3-F393-E0A9-E50E24DCCA9E") ?? 0
        func found(_ widths: [BluetoothUUID]) -> [String] {
            var app = AdvisedApp(.peripheral)
            for (number, uuid) in widths.enumerated() { app.ask(.addService(Self.service(UInt32(number), uuid))) }
            return app.advice.map { "\($0.found) \($0.count)" }
        }
        let inTurn = "published services with UUIDs of 16 and of 128 bits in turn 1"
        let many = "published more than 8 services 1"
        #expect(found([0x180D, 0x180F, long, long]) == [])
        #expect(found([long, long, 0x180D]) == [])
        #expect(found([0x180D, long, 0x180D]) == [inTurn])
        #expect(found([0x180D, long, 0x180D, long, 0x180D, long]) == [inTurn])
        #expect(found([BluetoothUUID](repeating: 0x180D, count: 8)) == [])
        #expect(found([BluetoothUUID](repeating: 0x180D, count: 12)) == [many])
        #expect(found([0x180D, long] + [BluetoothUUID](repeating: 0x180D, count: 10)) == [inTurn, many])
    }

    // MARK: Values

    @Test("behaviour 12.17: three reads of one central in exactly a minute are noticed, each with the first octet")
    func reads() {
        func rules(_ pause: Double, offset: Int = 0, alternating: Bool = false, off: Bool = false) -> [String] {
            var app = Self.app(properties: 0x02)
            for number in 0..<3 {
                if number > 0 { app.wait(pause) }
                if number == 2, off {
                    app.report(.stateChanged(.poweredOff))
                    app.report(.stateChanged(.poweredOn))
                }
                let central = Self.central(alternating && number == 1 ? .sensor : .other)
                app.report(
                    .readRequested(transaction: UInt64(number), central, Self.value, offset: number == 1 ? offset : 0)
                )
                app.ask(.respond(transaction: UInt64(number), .success, value: nil))
            }
            return app.rules
        }
        #expect(rules(30) == ["12.17"])
        #expect(rules(30.001) == [])
        #expect(rules(1, offset: 1) == [])
        #expect(rules(1, alternating: true) == [])
        #expect(rules(1, off: true) == [])
    }

    @Test("behaviour 12.17: one read after each connection of a central is right, and others go on counting")
    func readsOfConnections() {
        let ends: [PeripheralEvent] = [
            .unsubscribed(Self.central(.other), LocalAttributeID(102)), .centralDisconnected(.other, nil),
        ]
        for end in ends {
            for (reader, rules) in [(UUID.other, []), (.sensor, ["12.17"])] {
                var app = Self.app(properties: 0x02)
                for number in 0..<3 as Range<UInt64> {
                    app.report(.readRequested(transaction: number, Self.central(reader), Self.value, offset: 0))
                    app.ask(.respond(transaction: number, .success, value: nil))
                    app.report(end)
                }
                #expect(app.rules == rules)
            }
        }
        // A central that is still subscribed to another value is still connected.
        var app = Self.app(values: [101, 102, 103], properties: 0x02)
        app.report(.subscribed(Self.central(.other), LocalAttributeID(103)))
        for number in 0..<3 as Range<UInt64> {
            app.report(.readRequested(transaction: number, Self.central(.other), Self.value, offset: 0))
            app.ask(.respond(transaction: number, .success, value: nil))
            app.report(.unsubscribed(Self.central(.other), LocalAttributeID(102)))
        }
        #expect(app.rules == ["12.17"])
    }

    @Test("behaviour 12.17: reads and updates of a value that is not published say nothing")
    func unknownValues() {
        var app = Self.app(properties: 0x02)
        for number in 0..<3 as Range<UInt64> {
            app.report(.readRequested(transaction: number, Self.central(.other), LocalAttributeID(9), offset: 0))
            app.ask(.respond(transaction: number, .success, value: nil))
        }
        app.ask(.updateValue(LocalAttributeID(9), value: Self.bytes(1), centrals: nil))
        #expect(app.rules == [])
    }

    @Test("AB-G05: the reads of 256 centrals and values are counted; with one more all are forgotten")
    func manyReads() {
        for (count, rules) in [(256, ["12.17"]), (257, [])] {
            var app = Self.app(properties: 0x02)
            func read(_ number: Int) {
                app.report(.readRequested(transaction: 1, Self.central(Self.peer(number)), Self.value, offset: 0))
                app.ask(.respond(transaction: 1, .success, value: nil))
            }
            read(0)
            read(0)
            for number in 1..<count { read(number) }
            read(0)
            #expect(app.rules == rules)
        }
    }

    @Test("behaviour 12.19: each request may wait for exactly five seconds, and is told once by what it asks for")
    func requests() {
        var app = Self.app()
        app.report(Self.write(2, from: .sensor, [1], needsResponse: true))
        app.report(.readRequested(transaction: 1, Self.central(.other), Self.value, offset: 0))
        app.report(.readRequested(transaction: 3, Self.central(.other), LocalAttributeID(9), offset: 0))
        app.report(.writeRequested(transaction: 4, Self.central(.other), [], needsResponse: true))
        app.wait(5)
        #expect(app.rules == [])
        app.wait(0.001)
        let name = "Heart Rate Measurement (2A37)"
        #expect(
            app.advice.map(\.found) == [
                "left a read of \(name) without a response for more than 5 s",
                "left a read of a characteristic without a response for more than 5 s",
                "left a write of a value without a response for more than 5 s",
            ]
        )
        #expect(app.advice.map(\.count) == [2, 1, 1])
        #expect(app.rules.count == 4)
        app.report(Self.write(5, from: .sensor, [1], needsResponse: true))
        app.report(.stateChanged(.poweredOff))
        app.wait(10)
        #expect(app.rules.count == 4)
    }

    @Test("AB-G05: 256 requests are watched for their responses")
    func manyRequests() {
        for isRead in [true, false] {
            var app = Self.app()
            for number in 0..<300 as Range<UInt64> {
                app.report(
                    isRead
                        ? .readRequested(transaction: number, Self.central(.other), Self.value, offset: 0)
                        : Self.write(number, from: .other, [1], needsResponse: true)
                )
            }
            app.wait(6)
            #expect(app.rules.count == 256)
        }
    }

    @Test("behaviour 12.21: an update may be as long as the least that a subscriber receives")
    func truncatedUpdates() {
        var app = Self.app()
        app.report(.subscribed(Self.central(.other, length: 20), Self.value))
        app.report(.subscribed(Self.central(.sensor, length: 30), Self.value))
        app.ask(.updateValue(Self.value, value: Self.bytes(20), centrals: nil))
        app.ask(.updateValue(Self.value, value: Self.bytes(30), centrals: [.sensor]))
        #expect(app.rules == [])
        app.site = CallSite(number: 3)
        app.ask(.updateValue(Self.value, value: Self.bytes(30), centrals: [.sensor, .other]))
        let found = "updated Heart Rate Measurement (2A37) with 30 octets, of which a subscriber receives 20"
        #expect(app.advice.map(\.found) == [found])
        #expect(app.advice.map(\.site) == [CallSite(number: 3)])
        // With the radio the subscriptions end.
        app.report(.stateChanged(.poweredOff))
        app.report(.stateChanged(.poweredOn))
        app.ask(.updateValue(Self.value, value: Self.bytes(30), centrals: nil))
        #expect(app.rules == ["12.21"])
    }

    @Test("behaviour 12.22: writes and updates of a central add up, until its last subscription or the radio ends")
    func bulk() {
        var app = Self.app(values: [101, 102])
        let other = LocalAttributeID(102)
        for id in [Self.value, other] { app.report(.subscribed(Self.central(.other, length: 10_000), id)) }
        app.report(Self.write(1, from: .other, [40_000, 50_000]))
        app.ask(.updateValue(Self.value, value: Self.bytes(9_999), centrals: nil))
        app.report(.unsubscribed(Self.central(.other), other))
        #expect(app.rules == [])
        app.report(Self.write(2, from: .other, [1]))
        #expect(app.rules == ["12.22"])
        app.report(Self.write(3, from: .other, [100_000]))
        #expect(app.rules == ["12.22"])
        app.report(.unsubscribed(Self.central(.other), Self.value))
        app.report(Self.write(4, from: .other, [99_999]))
        app.report(.stateChanged(.poweredOff))
        app.report(.stateChanged(.poweredOn))
        app.report(Self.write(5, from: .other, [99_999]))
        #expect(app.rules == ["12.22"])
        app.report(Self.write(6, from: .other, [1]))
        #expect(app.rules == ["12.22", "12.22"])
    }

    @Test("AB-G05: the octets of 64 centrals are counted; with one more all are forgotten")
    func manyCentrals() {
        for (count, rules) in [(64, ["12.22"]), (65, [])] {
            var app = Self.app()
            for number in 0..<count { app.report(Self.write(1, from: Self.peer(number), [99_999])) }
            app.report(Self.write(1, from: Self.peer(0), [1]))
            #expect(app.rules == rules)
        }
    }
}
