import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

@testable import AppAdvice

/// An app whose messages a test writes down, and the advice for it.
struct AdvisedApp {
    static let manager = ManagerID(1)

    private var advisor = AppAdvisor(name: "app", since: .zero)
    private var now = Instant.zero
    /// The place of the calls that follow.
    var site: CallSite?
    /// Whether values are counted, as in a system, rather than observed.
    var countsValues = true

    init(_ role: ManagerRole, isOn: Bool = true) {
        note(.managerOpened(role))
        if isOn { report(.stateChanged(.poweredOn)) }
    }

    /// An app in the central role that has discovered what the sensor has.
    static func connected() -> AdvisedApp {
        var app = AdvisedApp(.central)
        app.connectAndDiscover(.sensor)
        return app
    }

    /// The numbers of the rules for which there is advice so far, each as often as it was broken.
    var rules: [String] {
        mutating get {
            advisor.advance(to: now)
            return advisor.advice.flatMap { [String](repeating: $0.rule.number, count: $0.count) }
        }
    }

    var advice: [Advice] {
        mutating get {
            advisor.advance(to: now)
            return advisor.advice
        }
    }

    mutating func wait(_ seconds: Double) {
        now = now + .nanoseconds(Int64(seconds * 1e9))
    }

    mutating func note(_ content: Observation.Content, about peer: UUID? = nil) {
        advisor.accept(content, of: Self.manager, at: now, from: site, about: peer)
    }

    mutating func report(_ event: Event) {
        guard countsValues, case .central(.peer(let peer, .valueNotified(let handle, let value))) = event else {
            return note(.delivered(event))
        }
        advisor.count(
            ValueArrival(
                app: AppIdentity(name: "app"),
                manager: Self.manager,
                peer: peer,
                handle: handle,
                octets: value.count,
                time: now
            )
        )
    }

    mutating func ask(_ request: CentralRequest) { note(.requested(.central(request))) }

    mutating func ask(_ request: PeripheralRequest) { note(.requested(.peripheral(request))) }

    mutating func report(_ event: PeripheralEvent) { report(.peripheral(event)) }

    mutating func scan(_ services: [BluetoothUUID]? = [0x180D], duplicates: Bool = false) {
        ask(.startScan(ScanRequest(services: services, allowsDuplicates: duplicates)))
    }

    mutating func discover(_ peer: UUID, name: String? = "Sensor") {
        report(.central(.discovered(PeerInfo(identifier: peer, name: name), Advertisement(), rssi: -50)))
    }

    mutating func connect(_ peer: UUID) {
        ask(.peer(peer, .connect(ConnectOptions())))
        report(.central(.peer(peer, .connected(name: "Sensor", maximumWriteWithoutResponse: 182))))
    }

    mutating func disconnect(_ peer: UUID) {
        ask(.peer(peer, .cancelConnection))
        report(.central(.peer(peer, .disconnected(nil, isReconnecting: false, timestamp: nil))))
    }

    mutating func request(_ request: LinkRequest, of peer: UUID) { ask(.peer(peer, .link(request))) }

    mutating func report(_ event: PeerEvent, of peer: UUID) { report(.central(.peer(peer, event))) }

    /// Connects, and discovers the Heart Rate service (handle 16) with a measurement that notifies (18) and a location
    /// that can be read (21).
    mutating func connectAndDiscover(_ peer: UUID, all: Bool = false) {
        connect(peer)
        request(.discoverServices(all ? nil : [0x180D]), of: peer)
        let service = RemoteService(handle: 16, endHandle: 30, uuid: 0x180D, isPrimary: true)
        report(.servicesDiscovered(.success([service])), of: peer)
        request(.discoverCharacteristics(of: 16, all ? nil : [0x2A37, 0x2A38]), of: peer)
        let measurement = RemoteCharacteristic(handle: 18, uuid: 0x2A37, properties: 0x12)
        let location = RemoteCharacteristic(handle: 21, uuid: 0x2A38, properties: 0x02)
        report(.characteristicsDiscovered(of: 16, .success([measurement, location])), of: peer)
    }

    mutating func subscribe(_ handle: AttributeHandle, of peer: UUID) {
        request(.setNotify(handle, isEnabled: true), of: peer)
        report(.notifyStateChanged(handle, isNotifying: true, nil), of: peer)
    }

    mutating func unsubscribe(_ handle: AttributeHandle, of peer: UUID) {
        request(.setNotify(handle, isEnabled: false), of: peer)
        report(.notifyStateChanged(handle, isNotifying: false, nil), of: peer)
    }

    mutating func read(_ handle: AttributeHandle, of peer: UUID) {
        request(.readCharacteristic(handle), of: peer)
        report(.valueRead(handle, .success(PacketBuffer([1]))), of: peer)
    }
}

extension UUID {
    static let sensor = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    static let other = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
}
