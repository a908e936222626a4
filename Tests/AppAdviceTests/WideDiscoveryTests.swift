import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Which results of a discovery count as used, and which discoveries are wide (12.5).
@Suite struct WideDiscoveryTests {
    private static func service(_ handle: AttributeHandle) -> RemoteService {
        RemoteService(handle: handle, endHandle: handle + 9, uuid: 0x1800, isPrimary: true)
    }

    private static func characteristic(_ handle: AttributeHandle) -> RemoteCharacteristic {
        RemoteCharacteristic(handle: handle, uuid: 0x2A37, properties: 0x12)
    }

    private static func discover(_ services: [AttributeHandle], of peer: UUID = .sensor, app: inout AdvisedApp) {
        app.request(.discoverServices(nil), of: peer)
        app.report(.servicesDiscovered(.success(services.map(service))), of: peer)
    }

    /// The finding at the end of a connection in which all of so many services were discovered and some were used.
    private static func found(services: Int, used: Int) -> String? {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        discover((0..<services).map { AttributeHandle($0 * 10 + 10) }, app: &app)
        for number in 0..<used {
            app.request(.discoverIncludedServices(of: AttributeHandle(number * 10 + 10), nil), of: .sensor)
        }
        app.disconnect(.sensor)
        return app.advice.first?.found
    }

    @Test("behaviour 12.5: half of the results have to be used, and of a single one nothing could be left out")
    func half() {
        #expect(Self.found(services: 1, used: 0) == nil)
        #expect(Self.found(services: 2, used: 0) == "discovered all of 2 services of \"Sensor\", and used 0")
        #expect(Self.found(services: 2, used: 1) == nil)
        #expect(Self.found(services: 4, used: 2) == nil)
        #expect(Self.found(services: 5, used: 2) == "discovered all of 5 services of \"Sensor\", and used 2")
        #expect(Self.found(services: 5, used: 3) == nil)
    }

    @Test("behaviour 12.5: each request about a characteristic uses it, and requests about unknown ones use none")
    func uses() {
        let requests: [LinkRequest] = [
            .discoverDescriptors(of: 18), .readCharacteristic(18),
            .writeCharacteristic(18, value: PacketBuffer([1])), .writeWithoutResponse(18, value: PacketBuffer([1])),
            .setNotify(18, isEnabled: false),
        ]
        for request in requests {
            var app = AdvisedApp(.central)
            app.connectAndDiscover(.sensor, all: true)
            app.request(request, of: .sensor)
            app.disconnect(.sensor)
            #expect(app.rules == [], "\(request)")
        }
        var app = AdvisedApp(.central)
        app.connectAndDiscover(.sensor, all: true)
        for handle in [19, 22] as [AttributeHandle] { app.request(.readCharacteristic(handle), of: .sensor) }
        app.request(.discoverIncludedServices(of: 99, nil), of: .sensor)
        app.disconnect(.sensor)
        #expect(app.advice.map(\.found) == ["discovered all of 2 characteristics of \"Sensor\", and used 0"])
    }

    @Test("behaviour 12.5: services and characteristics are two causes, each with the place of its call")
    func twoCauses() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        app.site = CallSite(number: 1)
        app.request(.discoverServices(nil), of: .sensor)
        app.report(.servicesDiscovered(.success([10, 20, 30, 40, 50].map(Self.service))), of: .sensor)
        app.site = CallSite(number: 2)
        app.request(.discoverCharacteristics(of: 10, nil), of: .sensor)
        app.site = nil
        app.report(.characteristicsDiscovered(of: 10, .success([11, 13, 15].map(Self.characteristic))), of: .sensor)
        app.disconnect(.sensor)
        #expect(
            app.advice.map(\.found) == [
                "discovered all of 5 services of \"Sensor\", and used 1",
                "discovered all of 3 characteristics of \"Sensor\", and used 0",
            ]
        )
        #expect(app.advice.map(\.site) == [CallSite(number: 1), CallSite(number: 2)])
        #expect(app.rules.count == 2)
    }

    @Test("behaviour 12.5: a later request by UUIDs is not wide, and what was used stays used when it is found again")
    func laterRequests() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        Self.discover([10], app: &app)
        app.request(.discoverServices([0x180D]), of: .sensor)
        app.report(.servicesDiscovered(.success([10, 20, 30].map(Self.service))), of: .sensor)
        app.request(.discoverCharacteristics(of: 10, nil), of: .sensor)
        app.request(.discoverCharacteristics(of: 10, [0x2A37]), of: .sensor)
        app.report(.characteristicsDiscovered(of: 10, .success([11, 13, 15].map(Self.characteristic))), of: .sensor)
        app.disconnect(.sensor)
        #expect(app.rules == [])

        var again = AdvisedApp(.central)
        again.connectAndDiscover(.sensor, all: true)
        again.read(18, of: .sensor)
        again.report(.characteristicsDiscovered(of: 16, .success([18, 21].map(Self.characteristic))), of: .sensor)
        again.request(.discoverServices(nil), of: .sensor)
        again.report(.servicesDiscovered(.success([16, 40].map(Self.service))), of: .sensor)
        again.disconnect(.sensor)
        #expect(again.rules == [])
    }

    @Test("behaviour 12.5: the results of another service, and of a peer whose services were not discovered, are right")
    func otherResults() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        Self.discover([10, 20], app: &app)
        app.request(.discoverCharacteristics(of: 10, nil), of: .sensor)
        app.report(.characteristicsDiscovered(of: 20, .success([21, 23, 25].map(Self.characteristic))), of: .sensor)
        app.connect(.other)
        app.request(.discoverCharacteristics(of: 10, nil), of: .other)
        app.report(.characteristicsDiscovered(of: 10, .success([11, 13, 15].map(Self.characteristic))), of: .other)
        app.disconnect(.sensor)
        app.disconnect(.other)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.5: each connection counts by itself")
    func connections() {
        var app = AdvisedApp(.central)
        for _ in 0..<2 {
            app.connect(.sensor)
            Self.discover([10, 20, 30], app: &app)
            app.disconnect(.sensor)
        }
        #expect(app.rules == ["12.5", "12.5"])
        app.connect(.sensor)
        app.disconnect(.sensor)
        #expect(app.rules.count == 2)
    }

    @Test(
        "behaviour 12.5: discoveries that end together get their advice by peer, also if a manager is powered on again"
    )
    func order() {
        func peer(_ number: UInt8) -> UUID { UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number)) }
        var app = AdvisedApp(.central)
        for number in (0..<20 as Range<UInt8>).reversed() {
            app.connect(peer(number))
            Self.discover([10, 20, 30], of: peer(number), app: &app)
        }
        app.report(.stateChanged(.poweredOn))
        #expect(app.advice == [])
        app.note(.managerClosed)
        #expect(app.advice.map(\.peer) == (0..<20 as Range<UInt8>).map(peer))
    }

    @Test("AB-G05: 64 peers are followed at once, and 256 services and characteristics of each")
    func bounds() {
        var app = AdvisedApp(.central)
        for number in 0..<65 as Range<UInt8> {
            let peer = UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
            app.connect(peer)
            Self.discover([10, 20, 30], of: peer, app: &app)
            // A peer that is followed needs no further room.
            Self.discover([10, 20, 30, 40], of: peer, app: &app)
        }
        // Nor does a later request, which is not wide.
        let first = UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        app.request(.discoverServices([0x180D]), of: first)
        app.report(.servicesDiscovered(.success([50, 60].map(Self.service))), of: first)
        app.note(.managerClosed)
        #expect(app.advice.count == 64)
        #expect(app.advice.allSatisfy { $0.found == "discovered all of 4 services of \"Sensor\", and used 0" })

        var many = AdvisedApp(.central)
        many.connect(.sensor)
        for count in [255, 300] { Self.discover((1...count).map { AttributeHandle($0) }, app: &many) }
        many.request(.discoverCharacteristics(of: 1, nil), of: .sensor)
        for count in [255, 300] {
            let found = (1...count).map { Self.characteristic(AttributeHandle($0)) }
            many.report(.characteristicsDiscovered(of: 1, .success(found)), of: .sensor)
        }
        many.disconnect(.sensor)
        #expect(
            many.advice.map(\.found) == [
                "discovered all of 256 services of \"Sensor\", and used 1",
                "discovered all of 256 characteristics of \"Sensor\", and used 0",
            ]
        )
    }
}
