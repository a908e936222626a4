import CoreBluetooth

/// A heart-rate sensor, written as for iOS: it publishes the Heart Rate Service, advertises it, and notifies its
/// subscribers of a measurement each second.
///
/// Its note is readable and writable for every central, and subscribers get each change. The wearer's e-mail address is
/// for paired devices only.
///
/// Callbacks arrive on the queue given to the initializer.
package final class HeartRateSensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the manager's queue, where its callbacks and the timer arrive.

    /// Calls a block repeatedly on the sensor's queue. An app on a device would use a timer; a simulation has its own
    /// clock.
    package typealias Metronome = (_ interval: TimeInterval, _ tick: @escaping @Sendable () -> Void) -> Void

    private let name: String
    private let say: @Sendable (String) -> Void
    private let startMetronome: Metronome
    private var manager: CBPeripheralManager!
    private var measurement: CBMutableCharacteristic!
    private var note: CBMutableCharacteristic!
    private var noteText = Data("Hello from Harald".utf8)
    private let email = Data("wearer@example.org".utf8)
    private var servicesToAdd = 0
    private var isTicking = false
    private var beats = 0
    private var energy: UInt16 = 0
    private var unsent: Data?
    private var unsentNote: Data?
    private var battery: CBMutableService?

    package init(
        name: String,
        queue: DispatchQueue,
        metronome: @escaping Metronome,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.name = name
        self.say = say
        startMetronome = metronome
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else {
            say("Bluetooth is \(stateName(peripheral.state))")
            return
        }
        publish()
    }

    private func publish() {
        measurement = CBMutableCharacteristic(
            type: HeartRateProfile.measurement,
            properties: .notify,
            value: nil,
            permissions: .readable
        )
        let location = CBMutableCharacteristic(
            type: HeartRateProfile.bodySensorLocation,
            properties: .read,
            value: Data([1]),
            permissions: .readable
        )
        let controlPoint = CBMutableCharacteristic(
            type: HeartRateProfile.controlPoint,
            properties: .write,
            value: nil,
            permissions: .writeable
        )
        let heartRate = CBMutableService(type: HeartRateProfile.service, primary: true)
        heartRate.characteristics = [measurement, location, controlPoint]

        note = CBMutableCharacteristic(
            type: HeartRateProfile.note,
            properties: [.read, .write, .indicate],
            value: nil,
            permissions: [.readable, .writeable]
        )
        let notes = CBMutableService(type: HeartRateProfile.notesService, primary: true)
        notes.characteristics = [note]

        let email = CBMutableCharacteristic(
            type: HeartRateProfile.emailAddress,
            properties: [.read, .notifyEncryptionRequired],
            value: nil,
            permissions: .readEncryptionRequired
        )
        let wearer = CBMutableService(type: HeartRateProfile.wearerService, primary: true)
        wearer.characteristics = [email]

        let services = [heartRate, notes, wearer]
        servicesToAdd = services.count
        for service in services { manager.add(service) }
    }

    /// Publishes a battery service, or removes it. The system informs connected centrals.
    package func toggleBattery() {
        if let battery {
            manager.remove(battery)
            self.battery = nil
            say("removed \(describe(battery.uuid))")
            return
        }
        let level = CBMutableCharacteristic(
            type: HeartRateProfile.batteryLevel,
            properties: .read,
            value: Data([100]),
            permissions: .readable
        )
        let service = CBMutableService(type: HeartRateProfile.battery, primary: true)
        service.characteristics = [level]
        battery = service
        manager.add(service)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error {
            say("could not publish \(service.uuid): \(error.localizedDescription)")
            return
        }
        say("published \(describe(service.uuid))")
        servicesToAdd -= 1
        guard servicesToAdd == 0 else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: name,
            CBAdvertisementDataServiceUUIDsKey: [HeartRateProfile.service],
        ])
    }

    package func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error {
            say("could not start advertising: \(error.localizedDescription)")
        } else {
            say("advertising as \"\(name)\"")
        }
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        say("a central subscribed to \(describe(characteristic.uuid))")
        guard characteristic.uuid == HeartRateProfile.measurement, !isTicking else { return }
        isTicking = true
        startMetronome(1) { [weak self] in self?.beat() }
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        say("a central unsubscribed from \(describe(characteristic.uuid))")
    }

    private func beat() {
        guard let subscribers = measurement.subscribedCentrals, !subscribers.isEmpty else { return }
        beats += 1
        energy &+= 3
        // A heart rate that oscillates between 64 and 84.
        let rate = UInt8(74 + Int((10 * sin(Double(beats) / 3)).rounded()))
        send(HeartRateProfile.measurement(rate: rate, energy: energy))
    }

    private func send(_ value: Data) {
        unsent = manager.updateValue(value, for: measurement, onSubscribedCentrals: nil) ? nil : value
    }

    private func update(_ text: Data) {
        unsentNote = manager.updateValue(text, for: note, onSubscribedCentrals: nil) ? nil : text
    }

    package func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        if let value = unsent { send(value) }
        if let text = unsentNote { update(text) }
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value: Data
        switch request.characteristic.uuid {
        case HeartRateProfile.note: value = noteText
        case HeartRateProfile.emailAddress:
            // The system only passes on reads from paired centrals, so the app need not check.
            say("a paired central reads \(describe(HeartRateProfile.emailAddress))")
            value = email
        default:
            peripheral.respond(to: request, withResult: .readNotPermitted)
            return
        }
        guard request.offset <= value.count else {
            peripheral.respond(to: request, withResult: .invalidOffset)
            return
        }
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        var newNote = noteText
        for request in requests {
            let value = request.value ?? Data()
            switch request.characteristic.uuid {
            case HeartRateProfile.controlPoint where value == Data([HeartRateProfile.resetEnergyExpended]):
                energy = 0
                say("the energy count was reset")
            case HeartRateProfile.note where request.offset <= newNote.count:
                newNote = newNote.prefix(request.offset) + value
            case HeartRateProfile.note:
                peripheral.respond(to: first, withResult: .invalidOffset)
                return
            default:
                // The Heart Rate Service defines an error of its own for an unknown control point value.
                peripheral.respond(to: first, withResult: CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
                return
            }
        }
        let isNew = newNote != noteText
        noteText = newNote
        peripheral.respond(to: first, withResult: .success)
        if isNew { update(newNote) }
    }
}
