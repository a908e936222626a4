import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// The pictures of managers that detectors share.
@Suite struct PictureTests {
    private static func peer(_ number: Int) -> UUID {
        let (high, low) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low))
    }

    private static let connect = CentralRequest.peer(.sensor, .connect(ConnectOptions()))

    private static func told(_ event: PeerEvent) -> CentralEvent { .peer(.sensor, event) }

    private static func characteristic(_ handle: AttributeHandle, properties: UInt8 = 0x10) -> RemoteCharacteristic {
        RemoteCharacteristic(handle: handle, uuid: 0x2A37, properties: properties)
    }

    private static func connected() -> CentralPicture {
        var picture = CentralPicture()
        picture.accept(connect, at: .zero, from: CallSite(number: 1))
        picture.accept(told(.connected(name: "Sensor", maximumWriteWithoutResponse: 182)), at: .zero)
        return picture
    }

    // MARK: Centrals

    @Test("Core Vol 3 Part G 3.3.1.1: the bits Notify and Indicate mean that a value can notify, no other bit does")
    func canNotify() {
        for bit in 0..<8 {
            let value = CentralPicture.Peer.Characteristic(uuid: 0x2A37, properties: 1 << UInt8(bit))
            #expect(value.canNotify == (bit == 4 || bit == 5), "bit \(bit)")
        }
    }

    @Test("the first call of a connection is its place; a later call changes neither place nor state")
    func connection() {
        var picture = CentralPicture()
        #expect(picture[.sensor].link == .none)
        #expect(picture[.sensor].maximumWrite == 20)
        picture.accept(Self.connect, at: .zero, from: CallSite(number: 1))
        picture.accept(Self.connect, at: .zero, from: CallSite(number: 2))
        #expect(picture[.sensor].link == .pending)
        #expect(picture[.sensor].site == CallSite(number: 1))
        picture.accept(Self.told(.connected(name: nil, maximumWriteWithoutResponse: 182)), at: .zero)
        picture.accept(Self.connect, at: .zero, from: CallSite(number: 3))
        #expect(picture[.sensor].link == .connected)
        #expect(picture[.sensor].site == CallSite(number: 1))
        #expect(picture[.sensor].maximumWrite == 182)
        picture.accept(Self.told(.maximumWriteLengthChanged(244)), at: .zero)
        #expect(picture[.sensor].maximumWrite == 244)
    }

    @Test("the name of a peer is the last one that an event brought")
    func names() {
        var picture = CentralPicture()
        let named = CentralEvent.discovered(PeerInfo(identifier: .sensor, name: "A"), Advertisement(), rssi: -50)
        picture.accept(named, at: .zero)
        #expect(picture.peers.isEmpty)
        picture.accept(Self.connect, at: .zero)
        #expect(picture[.sensor].words == "a device")
        picture.accept(named, at: .zero)
        #expect(picture[.sensor].words == "\"A\"")
        picture.accept(Self.told(.connected(name: nil, maximumWriteWithoutResponse: 20)), at: .zero)
        #expect(picture[.sensor].words == "\"A\"")
        picture.accept(Self.told(.connected(name: "B", maximumWriteWithoutResponse: 20)), at: .zero)
        picture.accept(
            .discovered(PeerInfo(identifier: .sensor, name: nil), Advertisement(), rssi: -50),
            at: .zero
        )
        #expect(picture[.sensor].words == "\"B\"")
    }

    @Test("a connection takes its attributes with it, however it ends, and one that comes back is pending")
    func ends() {
        let ends: [(CentralPicture.Peer.Link, (inout CentralPicture) -> Void)] = [
            (.none, { $0.accept(.peer(.sensor, .cancelConnection), at: .zero) }),
            (.none, { $0.accept(.peer(.sensor, .forget), at: .zero) }),
            (.none, { $0.accept(Self.told(.connectionFailed(ServiceError(.connectionFailed))), at: .zero) }),
            (.none, { $0.accept(Self.told(.disconnected(nil, isReconnecting: false, timestamp: nil)), at: .zero) }),
            (.pending, { $0.accept(Self.told(.disconnected(nil, isReconnecting: true, timestamp: nil)), at: .zero) }),
        ]
        for (number, (link, end)) in ends.enumerated() {
            var picture = Self.connected()
            picture.accept(Self.told(.characteristicsDiscovered(of: 1, .success([Self.characteristic(18)]))), at: .zero)
            picture.accept(
                .peer(.sensor, .link(.setNotify(18, isEnabled: true))),
                at: .zero,
                from: CallSite(number: 2)
            )
            picture.accept(Self.told(.notifyStateChanged(18, isNotifying: true, nil)), at: .zero)
            #expect(picture[.sensor].notifying == [18])
            #expect(picture[.sensor].subscribing == [18: CallSite(number: 2)])
            #expect(picture[.sensor].words(18) == "Heart Rate Measurement (2A37)")
            end(&picture)
            #expect(picture[.sensor].link == link, "end \(number)")
            #expect(picture[.sensor].notifying == [])
            #expect(picture[.sensor].subscribing == [:])
            #expect(picture[.sensor].words(18) == "the value with handle 18")
            #expect(picture[.sensor].name == "Sensor")
        }
    }

    @Test("a subscription ends with the call or with the event, and a refused one never begins")
    func subscriptions() {
        var picture = Self.connected()
        picture.accept(
            Self.told(.notifyStateChanged(18, isNotifying: true, ServiceError(.connectionFailed, reason: "refused"))),
            at: .zero
        )
        #expect(picture[.sensor].notifying == [])
        for handle in [18, 19] as [AttributeHandle] {
            picture.accept(Self.told(.notifyStateChanged(handle, isNotifying: true, nil)), at: .zero)
        }
        picture.accept(.peer(.sensor, .link(.setNotify(18, isEnabled: false))), at: .zero)
        #expect(picture[.sensor].notifying == [19])
        picture.accept(Self.told(.notifyStateChanged(19, isNotifying: false, nil)), at: .zero)
        #expect(picture[.sensor].notifying == [])
        // Of a peer that the app does not use, nothing is kept.
        picture.accept(.peer(.other, .link(.setNotify(18, isEnabled: true))), at: .zero, from: CallSite(number: 1))
        picture.accept(.peer(.other, .notifyStateChanged(18, isNotifying: true, nil)), at: .zero)
        #expect(picture.peers.count == 1)
    }

    @Test("a scan begins with its first call, ends with a stop or with the radio, and only poweredOn keeps the peers")
    func scans() {
        var picture = Self.connected()
        let later = Instant.zero + .seconds(5)
        picture.accept(.startScan(ScanRequest(services: [0x180D])), at: .zero, from: CallSite(number: 1))
        picture.accept(.startScan(ScanRequest(services: [0x180F])), at: later, from: CallSite(number: 2))
        #expect(picture.scan?.since == .zero)
        #expect(picture.scan?.site == CallSite(number: 1))
        #expect(picture.scan?.request.services == [0x180F])
        picture.accept(.poweredOn)
        #expect(picture.scan != nil)
        #expect(picture.peers.count == 1)
        picture.accept(.stopScan, at: later)
        #expect(picture.scan == nil)
        picture.accept(.startScan(ScanRequest(services: [0x180D])), at: later)
        picture.accept(.poweredOff)
        #expect(picture.scan == nil)
        #expect(picture.peers.isEmpty)
    }

    @Test("a restored manager has its scan, its connections, and what they had discovered and subscribed to")
    func restoredCentral() {
        let values = [
            RestoredCharacteristic(characteristic: Self.characteristic(18), isNotifying: true),
            RestoredCharacteristic(characteristic: Self.characteristic(21, properties: 2)),
        ]
        let service = RestoredService(
            service: RemoteService(handle: 16, endHandle: 30, uuid: 0x180D, isPrimary: true),
            characteristics: values
        )
        let state = RestoredCentral(
            scan: ScanRequest(services: [0x180D]),
            peers: [
                RestoredPeer(
                    info: PeerInfo(identifier: .sensor, name: "Sensor"),
                    maximumWriteWithoutResponse: 182,
                    services: [service]
                ),
                RestoredPeer(info: PeerInfo(identifier: .other, name: nil)),
            ]
        )
        var picture = CentralPicture()
        picture.accept(.willRestore(state), at: .zero + .seconds(3))
        #expect(picture.scan?.since == .zero + .seconds(3))
        #expect(picture[.sensor].link == .connected)
        #expect(picture[.sensor].words == "\"Sensor\"")
        #expect(picture[.sensor].maximumWrite == 182)
        #expect(picture[.sensor].notifying == [18])
        #expect(picture[.sensor].characteristics.keys.sorted() == [18, 21])
        #expect(picture[.other].link == .pending)
        #expect(picture[.other].maximumWrite == 20)
    }

    @Test("AB-G05: 256 characteristics and subscriptions of a peer are remembered")
    func attributes() {
        var picture = Self.connected()
        for count in [255, 1, 1] {
            let first = AttributeHandle(picture[.sensor].characteristics.count + 1)
            let found = (0..<count).map { Self.characteristic(first + AttributeHandle($0)) }
            picture.accept(Self.told(.characteristicsDiscovered(of: 1, .success(found))), at: .zero)
            for each in found {
                let request = LinkRequest.setNotify(each.handle, isEnabled: true)
                picture.accept(.peer(.sensor, .ask(1, request)), at: .zero, from: CallSite(number: 7))
            }
        }
        #expect(picture[.sensor].characteristics.keys.sorted() == Array(1...256))
        #expect(picture[.sensor].subscribing.keys.sorted() == Array(1...256))
    }

    @Test("AB-G05: 256 peers are remembered; a new one takes the place of those without a connection")
    func peers() {
        var picture = CentralPicture()
        for number in 0..<257 {
            picture.accept(.peer(Self.peer(number), .connect(ConnectOptions())), at: .zero)
        }
        #expect(picture.peers.count == 256)
        #expect(picture[Self.peer(256)].link == .none)
        // A known peer needs no room.
        picture.accept(.peer(Self.peer(7), .connected(name: "A", maximumWriteWithoutResponse: 20)), at: .zero)
        #expect(picture[Self.peer(7)].link == .connected)
        for number in 0..<3 { picture.accept(.peer(Self.peer(number), .cancelConnection), at: .zero) }
        #expect(picture.peers.count == 256)
        picture.accept(.peer(Self.peer(256), .connect(ConnectOptions())), at: .zero)
        #expect(picture[Self.peer(256)].link == .pending)
        #expect(picture.peers.count == 254)
        #expect(picture[Self.peer(3)].link == .pending)
    }

    // MARK: Peripherals

    private static func central(_ id: UUID, length: Int = 20) -> CentralInfo {
        CentralInfo(identifier: id, maximumUpdateLength: length)
    }

    private static func service(_ id: UInt32, values: [UInt32]) -> LocalService {
        LocalService(
            id: LocalAttributeID(id),
            uuid: 0x180D,
            isPrimary: true,
            characteristics: values.map {
                LocalCharacteristic(id: LocalAttributeID($0), uuid: 0x2A37, properties: 0x10, permissions: 1)
            }
        )
    }

    @Test("the bits of CBCharacteristicProperties for notify and indicate mean that a value can notify, no other does")
    func canNotifyLocally() {
        for bit in 0..<16 {
            let value = PeripheralPicture.Characteristic(
                uuid: 0x2A37,
                properties: 1 << UInt16(bit),
                service: LocalAttributeID(1),
                site: nil
            )
            #expect(value.canNotify == [4, 5, 8, 9].contains(bit), "bit \(bit)")
        }
    }

    @Test("a service is published until it is removed or refused, and takes its characteristics with it")
    func services() {
        var picture = PeripheralPicture()
        for number in 1...3 as ClosedRange<UInt32> {
            picture.accept(.addService(Self.service(number, values: [number * 10, number * 10 + 1])))
        }
        picture.accept(.serviceAdded(LocalAttributeID(1), nil))
        #expect(picture.services.map(\.id.rawValue) == [1, 2, 3])
        picture.accept(.removeService(LocalAttributeID(2)))
        #expect(picture.services.map(\.id.rawValue) == [1, 3])
        #expect(picture.characteristics.keys.map(\.rawValue).sorted() == [10, 11, 30, 31])
        picture.accept(.serviceAdded(LocalAttributeID(3), ServiceError(.connectionFailed, reason: "refused")))
        #expect(picture.services.map(\.id.rawValue) == [1])
        #expect(picture.characteristics.keys.map(\.rawValue).sorted() == [10, 11])
        #expect(picture.words(LocalAttributeID(10)) == "Heart Rate Measurement (2A37)")
        #expect(picture.words(LocalAttributeID(30)) == "a characteristic")
        picture.accept(.removeAllServices)
        #expect(picture.services.isEmpty)
        #expect(picture.characteristics.isEmpty)
    }

    @Test("a central is subscribed until it unsubscribes or the radio is off, to each characteristic by itself")
    func subscribers() {
        var picture = PeripheralPicture()
        let (first, second) = (LocalAttributeID(10), LocalAttributeID(11))
        picture.accept(.addService(Self.service(1, values: [10, 11])))
        picture.accept(.subscribed(Self.central(.sensor), first))
        #expect(picture.isSubscribed(.sensor, besides: second))
        #expect(!picture.isSubscribed(.sensor, besides: first))
        #expect(!picture.isSubscribed(.other, besides: second))
        picture.accept(.subscribed(Self.central(.sensor), second))
        #expect(picture.isSubscribed(.sensor, besides: first))
        picture.accept(.unsubscribed(Self.central(.sensor), second))
        #expect(picture.characteristics[second]?.subscribers == [])
        #expect(picture.characteristics[first]?.subscribers == [.sensor])
        picture.accept(.poweredOn)
        #expect(picture.characteristics[first]?.subscribers == [.sensor])
        picture.accept(.poweredOff)
        #expect(picture.characteristics[first]?.subscribers == [])
        #expect(picture.services.count == 1)
    }

    @Test("a restored manager has its services, their subscribers, and the length of their updates")
    func restoredPeripheral() {
        var picture = PeripheralPicture()
        let subscription = RestoredSubscription(
            central: Self.central(.sensor, length: 100),
            characteristic: LocalAttributeID(10)
        )
        picture.accept(
            .willRestore(RestoredPeripheral(services: [Self.service(1, values: [10])], subscriptions: [subscription]))
        )
        #expect(picture.services.map(\.id.rawValue) == [1])
        #expect(picture.characteristics[LocalAttributeID(10)]?.subscribers == [.sensor])
        #expect(picture.maximumUpdates == [.sensor: 100])
        picture.accept(.centralChanged(Self.central(.sensor, length: 182)))
        #expect(picture.maximumUpdates == [.sensor: 182])
    }

    @Test("AB-G05: 512 services, characteristics and centrals are remembered; with one more central all are forgotten")
    func bounds() {
        var picture = PeripheralPicture()
        for number in 0..<600 as Range<UInt32> {
            picture.accept(.addService(Self.service(number, values: [10_000 + number])))
        }
        #expect(picture.services.count == 512)
        #expect(picture.characteristics.count == 512)
        picture.accept(.removeAllServices)
        picture.accept(.addService(Self.service(1, values: Array(1...600))))
        #expect(picture.characteristics.count == 512)
        for number in 0..<512 { picture.accept(.centralChanged(Self.central(Self.peer(number)))) }
        picture.accept(.centralChanged(Self.central(Self.peer(0), length: 182)))
        #expect(picture.maximumUpdates.count == 512)
        picture.accept(.centralChanged(Self.central(Self.peer(512))))
        #expect(picture.maximumUpdates == [Self.peer(512): 20])
    }
}
