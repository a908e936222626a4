import BluetoothTypes
import CoreBluetooth
import Demos

/// Prints the events of a collector, as text or as documents.
struct CollectorPrinter: Sendable {
    let report: ToolReport
    /// The number of sensors, and of measurements from each, that the user has asked for.
    let sensors: Int
    let measurements: Int

    func show(_ event: HeartRateCollector.Event) {
        switch event {
        case .unusable(let state): report.say("Bluetooth is \(stateName(state))")
        case .connected(let sensor, let linked):
            let document = LinkDocument(device: sensor.document, state: "connected")
            report.show(document, as: "connected to \(sensor.quoted), \(linked) of \(sensors)")
        case .lost(let sensor, let reason):
            let document = LinkDocument(device: sensor.document, state: "disconnected", reason: reason)
            report.show(document, as: "\(sensor.quoted): \(reason.clause); connecting again")
        case .measured(let sensor, let value, let rate, let number):
            let document = MeasurementDocument(
                device: sensor.document,
                beatsPerMinute: rate,
                number: number,
                value: "\(PacketBuffer(Array(value)))"
            )
            report.show(document, as: "\(sensor.quoted): \(rate) bpm (\(number) of \(measurements))")
        case .complete(let linked):
            let document = CollectionDocument(links: linked, measurements: measurements)
            report.show(document, as: count(linked, "simultaneous link"))
        case .disconnected(let sensor):
            let document = LinkDocument(device: sensor.document, state: "disconnected")
            report.show(document, as: "disconnected from \(sensor.quoted)")
        }
    }
}

extension HeartRateCollector.Sensor {
    fileprivate var document: DeviceDocument { DeviceDocument(identifier: identifier.uuidString, name: name) }

    fileprivate var quoted: String { "\"\(name ?? "no name")\"" }
}

/// A measurement of one of several sensors.
struct MeasurementDocument: ReportDocument {
    static let event = "measurement"

    let device: DeviceDocument
    let beatsPerMinute: Int
    /// The number of this measurement among those of the sensor, from 1.
    let number: Int
    /// The whole value of the characteristic Heart Rate Measurement.
    let value: String
}

/// All sensors have delivered enough.
struct CollectionDocument: ReportDocument {
    static let event = "collected"

    /// The number of simultaneous links.
    let links: Int
    /// The number of measurements from each sensor.
    let measurements: Int
}
