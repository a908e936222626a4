import CoreBluetooth
import Foundation
import Synchronization

/// A heart-rate belt with bad firmware: it behaves until it is told how to misbehave.
///
/// All methods may be called from any thread.
public final class HostileBelt: NSObject, CBPeripheralManagerDelegate, Sendable {
    /// A way to answer the reads of a central.
    public enum Answer: Hashable, Sendable {
        case location(UInt8)
        /// An answer without any octet.
        case nothing
        /// The answer that the attribute does not exist, or another error.
        case refusal(CBATTError.Code)
        /// No answer, as if the firmware hung.
        case silence
    }

    private struct State: Sendable {
        var manager: CBPeripheralManager?
        var answer = Answer.location(1)
        /// The requests that are never answered. Their release would be misuse of the API.
        var unanswered: [CBATTRequest] = []
        var rate: CBMutableCharacteristic?
        /// The measurements that wait for room in the queue of the system.
        var waiting: [Data] = []
        var service: CBMutableService?
    }

    private let state = Mutex(State())

    /// Creates a belt that behaves well.
    ///
    /// - Parameter queue: The queue of the callbacks.
    public init(queue: DispatchQueue) {
        super.init()
        let manager = CBPeripheralManager(delegate: self, queue: queue)
        state.withLock { $0.manager = manager }
    }

    /// Sets how to answer from now on.
    public func answer(with answer: Answer) { state.withLock { $0.answer = answer } }

    /// Sends octets as a measurement, whether they are one or not. What the system has no room for waits.
    public func send(_ measurement: [UInt8]) {
        state.withLock { $0.waiting.append(Data(measurement)) }
        sendWaiting()
    }

    /// Removes the service, as an update of the firmware may, and publishes it again at another place of the table.
    public func changeTable() {
        guard let manager = state.withLock({ $0.manager }) else { return }
        manager.removeAllServices()
        let padding = CBMutableService(type: CBUUID(string: "180F"), primary: true)
        padding.characteristics = []
        manager.add(padding)
        publish(on: manager)
    }

    private func publish(on manager: CBPeripheralManager) {
        let rate = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"),
            properties: .notify,
            value: nil,
            permissions: []
        )
        let location = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"),
            properties: .read,
            value: nil,
            permissions: .readable
        )
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [rate, location]
        state.withLock { ($0.rate, $0.service) = (rate, service) }
        manager.add(service)
    }

    private func advertise(on manager: CBPeripheralManager) {
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }

    private func sendWaiting() {
        state.withLock { state in
            guard let rate = state.rate, let manager = state.manager else { return }
            while let next = state.waiting.first, manager.updateValue(next, for: rate, onSubscribedCentrals: nil) {
                state.waiting.removeFirst()
            }
        }
    }
}

extension HostileBelt {
    /// Publishes the service and advertises.
    public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.removeAllServices()
        publish(on: peripheral)
        advertise(on: peripheral)
    }

    /// Stops advertising, since one central is enough.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) { peripheral.stopAdvertising() }

    /// Advertises for the next central.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) { advertise(on: peripheral) }

    /// Sends what has waited for room.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendWaiting() }

    /// Answers as ``answer(with:)`` says.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        switch state.withLock({ $0.answer }) {
        case .location(let place):
            request.value = Data([place])
            peripheral.respond(to: request, withResult: .success)
        case .nothing:
            request.value = Data()
            peripheral.respond(to: request, withResult: .success)
        case .refusal(let code): peripheral.respond(to: request, withResult: code)
        case .silence: state.withLock { $0.unanswered.append(request) }
        }
    }
}
