import AppAdvice
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import ServiceMessages

/// The cost of the advisor: time for each message, and memory for each link that is alive.
extension HaraldBenchmarks {
    static func advice() {
        let pair = ServicePair()
        pair.advise()
        let count = Measurement.count(10_000)
        let before = pair.received
        let measurement = Measurement {
            for _ in 0..<count { pair.receive() }
        }
        pair.deliver()
        precondition(pair.received - before == Measurement.repetitions * count, "every notification arrives")
        row("the same with advice, HCI to event", count, measurement, nanoseconds)
        let apps = DelegatePair(on: NIOEventLoop())
        apps.advise()
        callbacks("callbacks with advice, HCI to delegate", apps)
        adviceMemory()
    }

    /// The advisor of one app with a subscribed value on each of its links.
    private static func adviceMemory() {
        let links = 64
        let (app, manager) = (AppIdentity(name: "app"), ManagerID(1))
        var advisor = Advisor()
        advisor.accept(.managerOpened(.central), of: app, manager, at: .zero)
        advisor.accept(.delivered(.stateChanged(.poweredOn)), of: app, manager, at: .zero)
        let empty = Day.heap
        for number in 0..<links {
            let peer = UUID()
            let now = Instant(microseconds: Int64(number) * 1_000)
            func ask(_ request: LinkRequest) {
                advisor.accept(.requested(.central(.peer(peer, .link(request)))), of: app, manager, at: now)
            }
            func sendObservation(_ event: PeerEvent) {
                advisor.accept(.delivered(.central(.peer(peer, event))), of: app, manager, at: now)
            }
            advisor.accept(.requested(.central(.peer(peer, .connect(ConnectOptions())))), of: app, manager, at: now)
            sendObservation(.connected(name: "Sensor", maximumWriteWithoutResponse: 182))
            ask(.discoverServices([0x180D]))
            sendObservation(
                .servicesDiscovered(.success([RemoteService(handle: 16, endHandle: 30, uuid: 0x180D, isPrimary: true)]))
            )
            ask(.discoverCharacteristics(of: 16, [0x2A37, 0x2A38]))
            let measurement = RemoteCharacteristic(handle: 18, uuid: 0x2A37, properties: 0x12)
            let location = RemoteCharacteristic(handle: 21, uuid: 0x2A38, properties: 0x02)
            sendObservation(.characteristicsDiscovered(of: 16, .success([measurement, location])))
            ask(.readCharacteristic(21))
            sendObservation(.valueRead(21, .success(PacketBuffer([1]))))
            ask(.setNotify(18, isEnabled: true))
            sendObservation(.notifyStateChanged(18, isNotifying: true, nil))
            for value in 0..<10 { sendObservation(.valueNotified(18, PacketBuffer([UInt8(value)]))) }
        }
        row("memory of the advisor for a link", "\((Day.heap - empty) / links) octets")
        precondition(advisor.advice.isEmpty, "the app does nothing wrong")
    }
}
