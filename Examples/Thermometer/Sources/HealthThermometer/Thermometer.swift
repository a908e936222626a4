import CoreBluetooth
import Foundation

/// A thermometer in the peripheral role: the Health Thermometer service with indicated measurements, and an interval
/// that a paired central can write.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class Thermometer: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case advertising
        case watched(by: Int)
        case interval(seconds: Int)
        case failed(String)
    }

    package static let service = CBUUID(string: "1809")
    package static let measurement = CBUUID(string: "2A1C")
    package static let type = CBUUID(string: "2A1D")
    package static let interval = CBUUID(string: "2A21")

    private let name: String
    private let celsius: () -> Double
    private let report: (Report) -> Void
    private var manager: CBPeripheralManager?
    private let measurements = CBMutableCharacteristic(
        type: Thermometer.measurement,
        properties: [.indicate],
        value: nil,
        permissions: []
    )
    private let intervals = CBMutableCharacteristic(
        type: Thermometer.interval,
        properties: [.read, .write],
        value: nil,
        permissions: [.readable, .writeEncryptionRequired]
    )
    private var seconds: UInt16 = 60
    /// Measurements for which there was no room yet. At more than 8 the oldest is dropped.
    private var waiting: [Data] = []

    /// Creates a thermometer.
    ///
    /// - Parameters:
    ///   - celsius: The sensor, which is read on the queue for each measurement.
    package init(
        name: String,
        queue: DispatchQueue? = nil,
        celsius: @escaping () -> Double,
        report: @escaping (Report) -> Void
    ) {
        self.name = name
        self.celsius = celsius
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    /// Sends the temperature to all subscribers. Call it on the queue of the thermometer.
    package func measure() {
        waiting.append(Self.encoded(celsius()))
        if waiting.count > 8 { waiting.removeFirst() }
        send()
    }

    private func advertise() {
        manager?.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
    }

    private func send() {
        while let next = waiting.first {
            guard manager?.updateValue(next, for: measurements, onSubscribedCentrals: nil) == true else { return }
            waiting.removeFirst()
        }
    }

    /// Encodes a Temperature Measurement in degrees Celsius: flags, then an IEEE 11073 float with two decimals.
    static func encoded(_ celsius: Double) -> Data {
        let mantissa = UInt32(bitPattern: Int32((celsius * 100).rounded())) & 0xFF_FFFF
        let exponent = UInt32(UInt8(bitPattern: -2)) << 24
        return withUnsafeBytes(of: (mantissa | exponent).littleEndian) { Data([0]) + Data($0) }
    }
}

extension Thermometer: CBPeripheralManagerDelegate {
    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return report(.unavailable(peripheral.state)) }
        // 2 stands for the body in general. The value is constant, so the system answers reads without asking the app.
        let type = CBMutableCharacteristic(
            type: Self.type,
            properties: [.read],
            value: Data([2]),
            permissions: [.readable]
        )
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [measurements, type, intervals]
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
        report(.watched(by: measurements.subscribedCentrals?.count ?? 0))
        measure()
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        let count = measurements.subscribedCentrals?.count ?? 0
        report(.watched(by: count))
        if count == 0 { advertise() }
    }

    package func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        send()
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value = withUnsafeBytes(of: seconds.littleEndian) { Data($0) }
        guard request.offset <= value.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        // All writes or none, with one response, to the first request.
        guard let first = requests.first else { return }
        guard requests.count == 1, first.offset == 0, let value = first.value, value.count == 2 else {
            return peripheral.respond(to: first, withResult: .invalidAttributeValueLength)
        }
        let wanted = UInt16(value[value.startIndex]) | UInt16(value[value.startIndex + 1]) << 8
        // 0x80 is the service's own error code for an interval out of range (Health Thermometer Service 1.0, 1.6).
        guard (1...3_600).contains(wanted) else {
            return peripheral.respond(to: first, withResult: CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
        }
        seconds = wanted
        report(.interval(seconds: Int(wanted)))
        peripheral.respond(to: first, withResult: .success)
    }
}
