import CoreBluetooth

/// An app that follows a heart-rate sensor, written as for iOS: it scans, connects, discovers services, reads,
/// subscribes, writes, and disconnects in order.
///
/// The system pairs the two devices when the app reads the wearer's e-mail address. The app then connects a second
/// time, to the bonded sensor.
///
/// Callbacks arrive on the queue given to the initializer.
package final class HeartRateApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the manager's queue, where its callbacks arrive.

    private let rates: Int
    private let say: @Sendable (String) -> Void
    private let finish: @Sendable (Bool) -> Void
    private var manager: CBCentralManager!
    private var sensor: CBPeripheral?
    private var servicesToExplore = 0
    /// Whether the sensor has responded on this connection, and the number of consecutive attempts without a response.
    private var hasFoundSensor = false
    private var attempts = 0
    private var ratesSeen = 0
    private var visit = 1
    private var hasEmail = false

    /// - Parameters:
    ///   - rates: The number of measurements to follow.
    ///   - say: Called with each line for the user.
    ///   - finish: Called once at the end, with whether everything succeeded.
    package init(
        queue: DispatchQueue,
        rates: Int,
        say: @escaping @Sendable (String) -> Void,
        finish: @escaping @Sendable (Bool) -> Void
    ) {
        self.rates = rates
        self.say = say
        self.finish = finish
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    // MARK: Scanning and connecting

    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else {
            say("Bluetooth is \(stateName(central.state))")
            return
        }
        say("scanning for \(describe(HeartRateProfile.service))")
        central.scanForPeripherals(withServices: [HeartRateProfile.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensor == nil || peripheral == sensor else { return }
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name ?? "no name"
        say(visit == 1 ? "found \"\(name)\" at \(RSSI) dBm" : "found \"\(name)\" again, with the same identifier")
        // The app must retain the peripheral, or the system forgets it.
        sensor = peripheral
        central.stopScan()
        say("connecting")
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        say("connected")
        hasFoundSensor = false
        peripheral.delegate = self
        peripheral.discoverServices(nil)
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        fail("could not connect", error)
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if (error as? CBError)?.code == .peripheralDisconnected, !hasFoundSensor, attempts < 10 {
            // A legacy connection request is not acknowledged, so the sensor may have missed it (behaviour 3.38).
            attempts += 1
            say("the sensor missed the connection request; connecting again")
            central.connect(peripheral)
            return
        }
        if let error {
            fail("the link was lost", error)
            return
        }
        say("disconnected")
        guard visit == 1, hasEmail else { return finish(ratesSeen >= rates) }
        visit = 2
        say("scanning for \(describe(HeartRateProfile.service)) again")
        central.scanForPeripherals(withServices: [HeartRateProfile.service])
    }

    // MARK: Discovery

    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return fail("could not discover services", error) }
        (hasFoundSensor, attempts) = (true, 0)
        let services = peripheral.services ?? []
        servicesToExplore = services.count
        for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return fail("could not discover characteristics", error) }
        servicesToExplore -= 1
        guard servicesToExplore == 0 else { return }
        guard visit == 1 else { return readEmail(of: peripheral) }
        showTree(of: peripheral)
        guard let location = characteristic(HeartRateProfile.bodySensorLocation, of: peripheral) else {
            return fail("the sensor has no Body Sensor Location", nil)
        }
        peripheral.readValue(for: location)
    }

    private func showTree(of peripheral: CBPeripheral) {
        say("services of \"\(peripheral.name ?? "no name")\"")
        for service in peripheral.services ?? [] {
            say("  \(describe(service.uuid))")
            for characteristic in service.characteristics ?? [] {
                say("    \(describe(characteristic.uuid)): \(describe(characteristic.properties))")
            }
        }
    }

    private func characteristic(_ uuid: CBUUID, of peripheral: CBPeripheral) -> CBCharacteristic? {
        (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }.first { $0.uuid == uuid }
    }

    // MARK: Reading, subscribing, writing

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if characteristic.uuid == HeartRateProfile.emailAddress {
            return didRead(email: characteristic.value, error, from: peripheral)
        }
        if let error { return fail("could not read \(describe(characteristic.uuid))", error) }
        let value = characteristic.value ?? Data()
        switch characteristic.uuid {
        case HeartRateProfile.bodySensorLocation: didRead(location: value, from: peripheral)
        case HeartRateProfile.measurement: didReceive(measurement: value, from: peripheral)
        default: break
        }
    }

    private func didRead(location: Data, from peripheral: CBPeripheral) {
        let place = location.first.flatMap { HeartRateProfile.locations.indices.contains(Int($0)) ? Int($0) : nil }
        say("read: worn on the \(place.map { HeartRateProfile.locations[$0] } ?? "unknown place")")
        guard let measurement = characteristic(HeartRateProfile.measurement, of: peripheral) else {
            return fail("the sensor has no Heart Rate Measurement", nil)
        }
        peripheral.setNotifyValue(true, for: measurement)
    }

    private func didReceive(measurement: Data, from peripheral: CBPeripheral) {
        guard ratesSeen < rates, let rate = HeartRateProfile.rate(of: measurement) else { return }
        ratesSeen += 1
        say("heart rate \(rate) bpm (\(ratesSeen) of \(rates))")
        guard ratesSeen == rates,
            let controlPoint = characteristic(HeartRateProfile.controlPoint, of: peripheral)
        else { return }
        peripheral.writeValue(
            Data([HeartRateProfile.resetEnergyExpended]),
            for: controlPoint,
            type: .withResponse
        )
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return fail("could not write \(describe(characteristic.uuid))", error) }
        say("wrote \(describe(characteristic.uuid)): reset the energy count")
        readEmail(of: peripheral)
    }

    /// Reads the protected value like any other: the system pairs if that is required.
    private func readEmail(of peripheral: CBPeripheral) {
        guard let email = characteristic(HeartRateProfile.emailAddress, of: peripheral) else {
            return leave(peripheral)
        }
        say("reading \(describe(email.uuid)), which is for paired devices only")
        peripheral.readValue(for: email)
    }

    private func didRead(email: Data?, _ error: (any Error)?, from peripheral: CBPeripheral) {
        if let error {
            say("the sensor refuses: \(error.localizedDescription)")
        } else {
            hasEmail = true
            say("read: \(String(decoding: email ?? Data(), as: UTF8.self))")
        }
        leave(peripheral)
    }

    /// Disconnects, after unsubscribing from the measurement.
    private func leave(_ peripheral: CBPeripheral) {
        guard let measurement = characteristic(HeartRateProfile.measurement, of: peripheral), measurement.isNotifying
        else { return manager.cancelPeripheralConnection(peripheral) }
        peripheral.setNotifyValue(false, for: measurement)
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return fail("could not subscribe to \(describe(characteristic.uuid))", error) }
        if characteristic.isNotifying {
            say("subscribed to \(describe(characteristic.uuid))")
        } else {
            say("unsubscribed; disconnecting")
            manager.cancelPeripheralConnection(peripheral)
        }
    }

    private func fail(_ what: String, _ error: (any Error)?) {
        say(what + (error.map { ": \($0.localizedDescription)" } ?? ""))
        finish(false)
    }
}
