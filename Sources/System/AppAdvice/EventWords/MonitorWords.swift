import AssignedNumbers
import BluetoothTypes
import Foundation
import ServiceEvents

/// Puts the events of the service into words, a line for each. Remembers the names that earlier events contained.
package struct MonitorWords: Sendable {
    /// The maximum number of remembered names of each kind. Then all are forgotten.
    private static let maximumNames = 10_000
    private static let maximumListed = 8

    /// An attribute of a peer, whose handles are the same for all apps, or one that a manager publishes.
    private enum AttributeKey: Hashable {
        case handle(Int, of: UUID?)
        case own(Int, owner: UInt32?, app: String?, manager: UInt32?)
    }

    private var peers: [UUID: String] = [:]
    private var attributes: [AttributeKey: BluetoothUUID] = [:]

    package init() {}

    /// Returns the line of an event: the time of day, and its text.
    ///
    /// - Parameter arrival: The time of day of an event without one, in seconds since 1970.
    package mutating func line(_ event: MonitoredEvent, arrival: Double) -> String {
        "\(Self.clock(event.date ?? arrival)) \(text(of: event))"
    }

    /// Returns the text of an event, without its time.
    package mutating func text(of event: MonitoredEvent) -> String {
        guard let message = message(of: event) else { return plain(event) }
        return "\(Self.app(event) ?? "an app") \(message)"
    }

    /// Returns the message of an event in words, without the app: `→ start scan`. Returns nil for an event without a
    /// message. Remembers the names in it.
    package mutating func message(of event: MonitoredEvent) -> String? {
        guard let message = event.message else { return nil }
        learn(message, event)
        return "\(message.direction == .event ? "←" : "→") \(words(message, event))"
    }

    /// An event without fields: its subject, and the text of the service.
    private func plain(_ event: MonitoredEvent) -> String {
        let subject = [Self.app(event), event.peer.map(name(of:)), event.link.map { "link \($0)" }].compactMap(\.self)
        let text = event.text.visible
        return subject.isEmpty ? text : "\(subject.joined(separator: ", ")): \(text)"
    }

    /// The app, with the number of its manager unless it is the first.
    private static func app(_ event: MonitoredEvent) -> String? {
        guard let app = event.app?.visible else { return nil }
        guard let manager = event.manager, manager != 1 else { return app }
        return "\(app)/\(manager)"
    }

    // MARK: Messages

    private func words(_ message: MonitoredMessage, _ event: MonitoredEvent) -> String {
        var start = [Self.spaced(message.name)]
        if let peer = message.peer ?? event.peer { start.append(name(of: peer)) }
        if let name = message.localName { start.append("as \(name.quotedName)") }
        if let rssi = message.rssi { start.append("\(rssi) dBm") }
        if let psm = message.psm { start.append("PSM 0x\(String(psm, radix: 16))") }
        if let state = message.state { start.append(state.visible) }
        if let isEnabled = message.isEnabled { start.append(isEnabled ? "on" : "off") }
        let parts = [start.joined(separator: " ")] + attribute(message, event) + contents(message)
        let failure = message.error.map { ", failed: \($0.visible)" } ?? ""
        return parts.joined(separator: ", ") + failure
    }

    /// The attribute that a message is about, and its value.
    private func attribute(_ message: MonitoredMessage, _ event: MonitoredEvent) -> [String] {
        let value = message.value.map(Self.octets)
        guard let number = message.handle ?? message.own,
            let key = Self.key(message, event, handle: message.handle, own: message.own)
        else { return value.map { [ValueText.plain($0)] } ?? [] }
        let uuid = attributes[key]
        let title = uuid.map { AssignedNumbers.title(of: $0) } ?? "attribute 0x\(String(number, radix: 16))"
        guard let value else { return [title] }
        return ["\(title): \(uuid.map { ValueText.text(of: value, in: $0) } ?? ValueText.plain(value))"]
    }

    /// The contents of an advertisement, and what was discovered.
    private func contents(_ message: MonitoredMessage) -> [String] {
        var parts: [String] = []
        // The service that an app publishes is the attribute of the message.
        if let services = message.services, message.own == nil {
            let kind = message.name == "discoverCharacteristics" ? "characteristics" : "services"
            parts.append("\(kind) \(Self.list(services))")
        }
        if let services = message.solicitedServices { parts.append("solicits \(Self.list(services))") }
        if let data = message.manufacturerData { parts.append(AdvertisementText.manufacturer(Self.octets(data))) }
        for (service, data) in (message.serviceData ?? [:]).sorted(by: { $0.key < $1.key }).prefix(Self.maximumListed) {
            parts.append("data of \(Self.title(service)): \(ValueText.plain(Self.octets(data)))")
        }
        if let power = message.txPower { parts.append("tx power \(power) dBm") }
        if let found = message.attributes { parts.append(found.isEmpty ? "none" : Self.list(found.map(\.uuid))) }
        return parts
    }

    /// Returns the words of a name in camel case: `services discovered` for `servicesDiscovered`.
    package static func spaced(_ name: String) -> String {
        // An upper-case letter starts a word, and the abbreviation RSSI is one.
        name.visible.replacing("RSSI", with: " RSSI").reduce(into: "") { words, letter in
            let starts = letter.isUppercase && words.last?.isLowercase == true
            words += starts ? " \(letter.lowercased())" : "\(letter)"
        }
    }

    private static func list(_ uuids: [String]) -> String {
        let shown = uuids.prefix(maximumListed).map(title).joined(separator: ", ")
        let more = uuids.count - maximumListed
        return more > 0 ? "\(shown) and \(more) more" : shown
    }

    private static func title(_ uuid: String) -> String {
        BluetoothUUID(uuid).map { AssignedNumbers.title(of: $0) } ?? uuid.visible
    }

    private static func octets(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    // MARK: Names

    private mutating func learn(_ message: MonitoredMessage, _ event: MonitoredEvent) {
        if let peer = message.peer, let name = message.peerName {
            if peers.count >= Self.maximumNames { peers = [:] }
            peers[peer] = name
        }
        var found = message.attributes ?? []
        // A published service is an attribute of the app, as its characteristics are.
        if message.name == "addService", let own = message.own, let uuid = message.services?.first {
            found.append(MonitoredMessage.Attribute(own: own, uuid: uuid))
        }
        for each in found {
            guard let uuid = BluetoothUUID(each.uuid),
                let key = Self.key(message, event, handle: each.handle, own: each.own)
            else { continue }
            if attributes.count >= Self.maximumNames { attributes = [:] }
            attributes[key] = uuid
        }
    }

    private static func key(
        _ message: MonitoredMessage,
        _ event: MonitoredEvent,
        handle: Int?,
        own: Int?
    ) -> AttributeKey? {
        if let handle { return .handle(handle, of: message.peer ?? event.peer) }
        return own.map { .own($0, owner: event.owner, app: event.app, manager: event.manager) }
    }

    /// The name of a peer, or the beginning of its identifier.
    private func name(of peer: UUID) -> String {
        peers[peer].map(\.quotedName) ?? String(peer.uuidString.prefix(8))
    }

    // MARK: Time

    /// Returns the local time of day, with milliseconds.
    package static func clock(_ date: Double) -> String {
        guard (0..<100_000_000_000).contains(date) else { return "??:??:??.???" }
        // Rounded once, so that the seconds carry.
        let milliseconds = Int((date * 1_000).rounded())
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "??:??:??.???" }
        return String(format: "%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds % 1_000)
    }
}
