import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization

package enum NoteProfile {
    package static let service = CBUUID(string: "8E5A0001-5B1C-4C8B-9A60-2F6D1A3C7E10")
    package static let note = CBUUID(string: "8E5A0002-5B1C-4C8B-9A60-2F6D1A3C7E10")
}

/// An app with a note that other devices can read and subscribe to, written as for Apple's platforms.
package final class NoteApp: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: mutable state is behind a lock, and `manager` is set once.
    package let app: SimulatedApp
    private let say: @Sendable (String) -> Void
    private let text = Mutex("Hello")
    private let note = CBMutableCharacteristic(
        type: NoteProfile.note,
        properties: [.read, .notify],
        value: nil,
        permissions: .readable
    )
    private var manager: CBPeripheralManager!

    package init(_ app: SimulatedApp, say: @escaping @Sendable (String) -> Void) {
        self.app = app
        self.say = say
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "notes"))
    }

    /// Changes the note and notifies the subscribers.
    package func write(_ text: String) {
        self.text.withLock { $0 = text }
        say("writes \"\(text)\"")
        manager.updateValue(Data(text.utf8), for: note, onSubscribedCentrals: nil)
    }

    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: NoteProfile.service, primary: true)
        service.characteristics = [note]
        peripheral.add(service)
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Ben", CBAdvertisementDataServiceUUIDsKey: [NoteProfile.service],
        ])
    }

    package func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        say("his app advertises \"Ben\" and its service")
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        say("his app receives a read request for the note")
        request.value = Data(text.withLock { $0 }.utf8.dropFirst(request.offset))
        peripheral.respond(to: request, withResult: .success)
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        say("his app has a subscriber")
    }
}
