import ArgumentParser
import BluetoothTypes
import Foundation

/// The device that a command is about, as the user names it: a name or the beginning of one in any case, an identifier
/// or the beginning of one, an address, or a service.
struct DeviceSelector: Hashable, Sendable, ExpressibleByArgument {
    /// How well a device fits. Devices that fit less well than another one do not count.
    enum Fit: Int, Comparable {
        /// The text is the beginning of the name or identifier, or the device has the service.
        case partly
        /// The text is the whole name.
        case named
        /// The text is the whole identifier or address, which no other device has.
        case unique

        static func < (one: Fit, other: Fit) -> Bool { one.rawValue < other.rawValue }
    }

    private enum Kind: Hashable {
        case text(String)
        case identifier(UUID)
        case address(UInt64)
        case service(BluetoothUUID)
    }

    static let forms =
        "a name or its beginning in any case, an identifier or its beginning, an address, or service:180D."
    static let help = ArgumentHelp("The device: \(forms)", valueName: "DEVICE")

    static let servicePrefix = "service:"
    /// The least length of the beginning of an identifier. Shorter ones are names only.
    private static let shortestIdentifier = 4

    private let kind: Kind
    /// The argument as the user wrote it.
    let text: String

    /// Parses an argument. Returns nil for an empty one, and for an invalid service.
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        text = argument
        if argument.lowercased().hasPrefix(Self.servicePrefix) {
            guard let uuid = typedService(argument.dropFirst(Self.servicePrefix.count)) else { return nil }
            kind = .service(uuid)
        } else if let address = BluetoothAddress(argument, kind: .publicDevice) {
            kind = .address(address.value)
        } else if let identifier = UUID(uuidString: argument) {
            kind = .identifier(identifier)
        } else {
            kind = .text(argument.lowercased())
        }
    }

    /// The identifier, if the user gave a whole one.
    var identifier: UUID? {
        if case .identifier(let identifier) = kind { identifier } else { nil }
    }

    var service: BluetoothUUID? {
        if case .service(let service) = kind { service } else { nil }
    }

    var isAddress: Bool {
        if case .address = kind { true } else { false }
    }

    /// Returns how well a device fits, or nil if it does not.
    func fit(_ device: DeviceCandidate) -> Fit? {
        switch kind {
        case .service(let uuid): return device.services.contains(uuid) ? .partly : nil
        case .address(let value): return device.address?.value == value ? .unique : nil
        case .identifier(let identifier): return device.identifier == identifier ? .unique : nil
        case .text(let text):
            let names = device.names.map { $0.lowercased() }
            if names.contains(text) { return .named }
            let identifier = text.count >= Self.shortestIdentifier ? device.identifier?.uuidString.lowercased() : nil
            return (names + [identifier].compactMap(\.self)).contains { $0.hasPrefix(text) } ? .partly : nil
        }
    }

    /// The device for messages, such as `device named "Strap"`.
    func description(of device: String) -> String {
        switch kind {
        case .text: "\(device) named \(text.quotedName)"
        case .identifier: "\(device) with the identifier \(text)"
        case .address: "\(device) with the address \(text)"
        case .service(let uuid): "\(device) with the service \(nameOf(uuid))"
        }
    }

    var quoted: String { text.quotedName }
}

/// The devices that a search has heard, and the choice among them.
struct DeviceChoice<Device> {
    enum Result {
        case none
        case one(DeviceCandidate, Device)
        case several([DeviceCandidate])
    }

    static var maximumMatches: Int { 1_000 }
    /// How long to listen for further devices that fit, after the first one. Most devices advertise more often.
    static var settling: Duration { .seconds(1) }

    private let selector: DeviceSelector
    private var matches: [(candidate: DeviceCandidate, fit: DeviceSelector.Fit, device: Device)] = []
    private(set) var found = ScannedDevices()

    init(_ selector: DeviceSelector) {
        self.selector = selector
    }

    /// The best fit so far; nil if no device fits.
    var best: DeviceSelector.Fit? { matches.map(\.fit).max() }

    /// Adds a device that cannot be chosen.
    mutating func pass(_ candidate: DeviceCandidate) { found.add(candidate) }

    /// Adds a device, or what has become known of it.
    mutating func add(_ candidate: DeviceCandidate, _ device: Device) {
        guard let fit = selector.fit(candidate) else { return found.add(candidate) }
        let known = matches.firstIndex {
            $0.candidate.identifier == candidate.identifier && $0.candidate.address == candidate.address
        }
        if let known {
            if fit >= matches[known].fit { matches[known] = (candidate, fit, device) }
        } else if matches.count < Self.maximumMatches {
            matches.append((candidate, fit, device))
        }
    }

    var result: Result {
        let fitting = matches.filter { $0.fit == best }
        guard let first = fitting.first else { return .none }
        return fitting.count == 1 ? .one(first.candidate, first.device) : .several(fitting.map(\.candidate))
    }
}

/// The devices that a search has heard and that do not fit.
struct ScannedDevices: Hashable, Sendable {
    private static let maximum = 1_000
    private static let maximumShown = 8

    private var devices: [String: String] = [:]

    mutating func add(_ device: DeviceCandidate) {
        let key = device.identifier?.uuidString ?? device.address.map { "\($0)" } ?? ""
        if let name = device.names.first { devices[key] = name }
        if devices.count < Self.maximum, devices[key] == nil { devices[key] = "" }
    }

    /// Describes them, such as `2 other devices were heard: "Pulse", "Scale"`.
    var description: String {
        guard !devices.isEmpty else { return "no other device was heard" }
        let names = Set(devices.values.filter { !$0.isEmpty }).sorted()
        let shown = names.prefix(Self.maximumShown).map(\.quotedName).joined(separator: ", ")
        let list = names.isEmpty ? "" : ": " + shown + (names.count > Self.maximumShown ? ", ..." : "")
        return count(devices.count, "other device") + (devices.count == 1 ? " was heard" : " were heard") + list
    }
}
