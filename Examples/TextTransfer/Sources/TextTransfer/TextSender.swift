import CoreBluetooth
import Foundation

/// Offers a text in the peripheral role, and sends it to a subscriber in parts of the longest possible notification.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class TextSender: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case advertising
        case subscribed
        case sent(parts: Int)
        case unsubscribed
        case failed(String)
    }

    private let text: Data
    private let report: (Report) -> Void
    private var manager: CBPeripheralManager?
    private let characteristic = CBMutableCharacteristic(
        type: TransferService.text,
        properties: [.notify],
        value: nil,
        permissions: [.readable]
    )
    private var reader: CBCentral?
    /// The number of octets sent so far, and of the parts that carried them.
    private var sent = 0
    private var parts = 0
    private var isDone = false

    package init(text: String, queue: DispatchQueue? = nil, report: @escaping (Report) -> Void) {
        self.text = Data(text.utf8)
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    private func advertise() {
        manager?.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [TransferService.service]])
    }

    /// Sends until there is no more room. `peripheralManagerIsReady(toUpdateSubscribers:)` continues.
    private func send() {
        guard let manager, let reader, !isDone else { return }
        while sent < text.count {
            let part = text.dropFirst(sent).prefix(reader.maximumUpdateValueLength)
            guard manager.updateValue(Data(part), for: characteristic, onSubscribedCentrals: [reader]) else { return }
            sent += part.count
            parts += 1
        }
        guard manager.updateValue(TransferService.end, for: characteristic, onSubscribedCentrals: [reader]) else {
            return
        }
        isDone = true
        report(.sent(parts: parts))
    }
}

extension TextSender: CBPeripheralManagerDelegate {
    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return report(.unavailable(peripheral.state)) }
        let service = CBMutableService(type: TransferService.service, primary: true)
        service.characteristics = [characteristic]
        peripheral.add(service)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        advertise()
    }

    package func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        report(error.map { .failed($0.localizedDescription) } ?? .advertising)
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        peripheral.stopAdvertising()
        report(.subscribed)
        (reader, sent, parts, isDone) = (central, 0, 0, false)
        send()
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        report(.unsubscribed)
        reader = nil
        advertise()
    }

    package func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        send()
    }
}
