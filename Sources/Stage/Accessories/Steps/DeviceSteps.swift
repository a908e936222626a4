import BluetoothTypes

/// A test of a device: the steps of a central, and what it expects of each.
///
/// It is read from a JSON file, whose format `Documentation/Accessories.md` describes.
package struct DeviceSteps: Hashable, Sendable {
    /// The version of the format.
    package static let format = 1

    /// The name of the test; nil for that of its file.
    package var name: String?
    /// The device in range that is tested, as on the command line; nil for a simulated accessory.
    package var device: String?
    /// The seed of the simulation.
    package var seed: UInt64 = 1
    /// The steps, in order.
    package var steps: [Step]

    /// A step, with its expectation and its time limit.
    package struct Step: Hashable, Sendable {
        /// The words of the file for this step.
        package var name: String?
        /// The action of the central.
        package var action: Action
        /// The expected answer; nil for any answer without an error.
        package var expectation: Expectation?
        /// The longest time that the step may take.
        package var limit: Duration
    }

    /// The action of a step. Characteristics are named by the ID of the accessory file, or as on the command line.
    package enum Action: Hashable, Sendable {
        /// Finds the device, and connects to it.
        case connect
        /// Ends the connection to the device.
        case disconnect
        /// Waits until the device or the radio ends the connection.
        case disconnection
        /// Encrypts the link, by pairing if there is no bond.
        case pair
        /// Discovers the services, which these have to be among.
        case services([BluetoothUUID])
        /// Reads the value of a characteristic.
        case read(String)
        /// Writes a value; with a response if `isConfirmed` is true, or nil and the characteristic allows it.
        case write(String, Accessory.Value, isConfirmed: Bool?)
        /// Subscribes to a characteristic.
        case subscribe(String)
        /// Ends the subscription to a characteristic.
        case unsubscribe(String)
        /// Waits for the next value of a subscription.
        case notification(String)
        /// Expects that a subscription has no value for a while.
        case silence(String, Duration)
        /// Lets some time pass.
        case wait(Duration)
        /// Begins a fault of a simulated accessory.
        case fault(DeviceFault)
        /// Ends a fault of a simulated accessory.
        case endFault(DeviceFault)
        /// Changes the value of a simulated accessory.
        case set(String, Accessory.Value)
    }

    /// An expectation about an answer. Each part that is there has to hold.
    package struct Expectation: Hashable, Sendable {
        /// The value as a whole.
        package var equals: Accessory.Value?
        /// The beginning of the value.
        package var beginning: Accessory.Value?
        /// The length of the value, in octets.
        package var length: Int?
        /// The range of a number in the value.
        package var number: NumberRange?
        /// The code of an ATT error.
        package var attError: UInt8?
        /// Whether any error is expected.
        package var isError = false
    }

    /// The range of a number in a value.
    package struct NumberRange: Hashable, Sendable {
        /// The form of the number.
        package var format: Accessory.NumberFormat
        /// The offset of the number in the value, in octets.
        package var offset: Int
        /// The numbers that are expected.
        package var range: ClosedRange<Double>
    }
}

extension DeviceSteps {
    /// The steps of a run, with the names that reports have.
    package var titles: [String] { steps.map { $0.name ?? $0.action.title } }
}

extension DeviceSteps.Action {
    /// The action in words.
    package var title: String {
        switch self {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .disconnection: "wait for the disconnection"
        case .pair: "pair"
        case .services(let uuids): "discover \(uuids.map { "\($0)" }.joined(separator: ", "))"
        case .read(let reference): "read \(reference)"
        case .write(let reference, let value, _): "write \(value.digits) to \(reference)"
        case .subscribe(let reference): "subscribe to \(reference)"
        case .unsubscribe(let reference): "unsubscribe from \(reference)"
        case .notification(let reference): "wait for a value of \(reference)"
        case .silence(let reference, let duration): "no value of \(reference) for \(duration.shortSeconds)"
        case .wait(let duration): "wait for \(duration.shortSeconds)"
        case .fault(let fault): "begin the fault \(fault.text)"
        case .endFault(let fault): "end the fault \(fault.text)"
        case .set(let reference, let value): "set \(reference) to \(value.digits)"
        }
    }
}

extension Accessory.Value {
    /// The octets in hexadecimal, as messages show them.
    package var digits: String {
        let octets = octets()
        return octets.isEmpty ? "an empty value" : hexadecimal(octets).uppercased()
    }
}

extension Duration {
    /// The length of time, such as `0.5 s`.
    package var shortSeconds: String {
        let (seconds, attoseconds) = components
        return "\((Double(seconds) + Double(attoseconds) / 1e18).shortText) s"
    }
}

// MARK: - Checking

extension DeviceSteps.Expectation {
    /// The expectation in words.
    package var words: String {
        if let attError { return "the ATT error \(attError)" }
        if isError { return "an error" }
        var parts: [String] = []
        if let equals { parts.append("the value \(equals.digits)") }
        if let beginning { parts.append("a value that begins with \(beginning.digits)") }
        if let length { parts.append("a value of \(length) octets") }
        if let number { parts.append(number.words) }
        return parts.isEmpty ? "a value" : parts.joined(separator: ", and ")
    }

    /// Whether an error is expected, rather than a value.
    package var expectsError: Bool { attError != nil || isError }

    /// Returns whether a value is as expected.
    package func fits(_ value: [UInt8]) -> Bool {
        guard !expectsError else { return false }
        if let equals, value != equals.octets() { return false }
        if let beginning, !value.starts(with: beginning.octets()) { return false }
        if let length, value.count != length { return false }
        if let number { return number.fits(value) }
        return true
    }
}

extension DeviceSteps.NumberRange {
    fileprivate var words: String {
        let place = offset == 0 ? "" : " at octet \(offset)"
        let (low, high) = (range.lowerBound.shortText, range.upperBound.shortText)
        return "a \(format.rawValue)\(place) \(low == high ? "of \(low)" : "from \(low) to \(high)")"
    }

    private func number(_ value: [UInt8]) -> Double? {
        guard offset <= value.count else { return nil }
        return format.number(value[offset...])
    }

    fileprivate func fits(_ value: [UInt8]) -> Bool { number(value).map(range.contains) ?? false }
}

extension Accessory {
    /// The place of a characteristic among others with the same UUIDs.
    package struct Place: Hashable, Sendable {
        /// The UUID of its service.
        package let service: BluetoothUUID
        /// The number of its service among those with this UUID, from 0 on.
        package let serviceNumber: Int
        /// The UUID of the characteristic.
        package let characteristic: BluetoothUUID
        /// The number of the characteristic among those of the service with this UUID, from 0 on.
        package let characteristicNumber: Int
    }

    /// Returns the place of the characteristic with this ID, or the only one with this UUID; nil if there is none.
    package func place(of reference: String) -> Place? {
        guard var left = index(of: reference) else { return nil }
        for (position, service) in services.enumerated() {
            guard left >= service.characteristics.count else {
                let uuid = service.characteristics[left].uuid
                return Place(
                    service: service.uuid,
                    serviceNumber: services[..<position].count { $0.uuid == service.uuid },
                    characteristic: uuid,
                    characteristicNumber: service.characteristics[..<left].count { $0.uuid == uuid }
                )
            }
            left -= service.characteristics.count
        }
        return nil
    }
}
