import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import Foundation
import GAP
import Synchronization

/// Publishes the Ranging Service of an accessory, and sends what its controller measures as reflector (RAS 1.0).
package final class RangingService: NSObject, CBPeripheralManagerDelegate, Sendable {
    /// Receives the counter of a procedure and its Ranging Data (RAS 1.0 3.2.1). From any thread.
    package typealias Reflections = @Sendable (_ counter: UInt16, _ data: [UInt8]) -> Void

    /// The maximum number of values that wait for room.
    static let maximumWaiting = 256

    private struct State: Sendable {
        var manager: CBPeripheralManager?
        var server = RangingServer()
        var waiting: [(characteristic: CBMutableCharacteristic, value: [UInt8])] = []
        /// The last values of Ranging Data Ready and of Ranging Data Overwritten.
        var counters: (ready: [UInt8], overwritten: [UInt8]) = ([0, 0], [0, 0])
    }

    private static let sent: CBCharacteristicProperties = [.notifyEncryptionRequired, .indicateEncryptionRequired]

    private let realTimeData = CBMutableCharacteristic.ranging(RangingUUID.realTimeData, sent)
    private let onDemandData = CBMutableCharacteristic.ranging(RangingUUID.onDemandData, sent)
    private let controlPoint = CBMutableCharacteristic.ranging(
        RangingUUID.controlPoint,
        [.writeWithoutResponse, .indicateEncryptionRequired],
        .writeEncryptionRequired
    )
    private let dataReady = CBMutableCharacteristic.ranging(
        RangingUUID.dataReady,
        sent.union(.read),
        .readEncryptionRequired
    )
    private let dataOverwritten = CBMutableCharacteristic.ranging(
        RangingUUID.dataOverwritten,
        sent.union(.read),
        .readEncryptionRequired
    )
    private let state = Mutex(State())

    /// Starts to publish the service.
    ///
    /// - Parameters:
    ///   - queue: The queue for callbacks.
    ///   - timer: The clock of the app, which runs blocks on the queue.
    ///   - watch: Passes on what the controller measures as reflector.
    package func start(
        on queue: DispatchQueue,
        timer: @escaping AccessoryPlayer.Timer,
        watching watch: (@escaping Reflections) -> Void
    ) {
        let manager = CBPeripheralManager(delegate: self, queue: queue)
        state.withLock { $0.manager = manager }
        watch { [weak self] counter, data in timer(.zero) { [weak self] in self?.measured(counter, data) } }
    }

    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        state.withLock { ($0.server, $0.waiting) = (RangingServer(), []) }
        peripheral.removeAllServices()
        let service = CBMutableService(type: CBUUID(RangingUUID.service), primary: true)
        let features = CBMutableCharacteristic(
            type: CBUUID(RangingUUID.features),
            properties: .read,
            value: Data(RangingServer.features),
            permissions: .readEncryptionRequired
        )
        service.characteristics = [features, realTimeData, onDemandData, controlPoint, dataReady, dataOverwritten]
        peripheral.add(service)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let counters = state.withLock { $0.counters }
        request.value = Data(request.characteristic === dataReady ? counters.ready : counters.overwritten)
        peripheral.respond(to: request, withResult: .success)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests { handle(.written(PacketBuffer([UInt8](request.value ?? Data())))) }
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }

    package func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { flush() }

    private func measured(_ counter: UInt16, _ data: [UInt8]) {
        let isRealTime = realTimeData.subscribedCentrals?.isEmpty == false
        state.withLock { $0.server.isRealTime = isRealTime }
        handle(.measured(counter: counter, data: data))
    }

    private func handle(_ event: RangingServer.Event) {
        for action in state.withLock({ $0.server.handle(event) }) {
            switch action {
            case .realTime(let data): send(data, by: realTimeData)
            case .onDemand(let data): send(data, by: onDemandData)
            case .ready(let counter):
                let value = [UInt8(counter & 0xFF), UInt8(counter >> 8)]
                state.withLock { $0.counters.ready = value }
                add(value, to: dataReady)
            case .overwritten(let counter):
                let value = [UInt8(counter & 0xFF), UInt8(counter >> 8)]
                state.withLock { $0.counters.overwritten = value }
                add(value, to: dataOverwritten)
            case .respond(let response): add(response.encoded, to: controlPoint)
            }
        }
        flush()
    }

    private func send(_ data: [UInt8], by characteristic: CBMutableCharacteristic) {
        let lengths = characteristic.subscribedCentrals?.map(\.maximumUpdateValueLength) ?? []
        for segment in RangingSegments.split(data, length: lengths.min() ?? 20) { add(segment, to: characteristic) }
    }

    private func add(_ value: [UInt8], to characteristic: CBMutableCharacteristic) {
        state.withLock { if $0.waiting.count < Self.maximumWaiting { $0.waiting.append((characteristic, value)) } }
    }

    private func flush() {
        while true {
            let (manager, next) = state.withLock { ($0.manager, $0.waiting.first) }
            guard let manager, let next,
                manager.updateValue(Data(next.value), for: next.characteristic, onSubscribedCentrals: nil)
            else { return }
            state.withLock { if !$0.waiting.isEmpty { $0.waiting.removeFirst() } }
        }
    }
}

extension CBMutableCharacteristic {
    fileprivate static func ranging(
        _ uuid: BluetoothUUID,
        _ properties: CBCharacteristicProperties,
        _ permissions: CBAttributePermissions = []
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: CBUUID(uuid), properties: properties, value: nil, permissions: permissions)
    }
}
