import EventLoops
import Foundation
import ServiceMessages

/// An app's pending requests to peripherals. Each request ends with its response, or with the end of the connection, of
/// power or of the app (behaviours 1.6, 3.39, 4.20).
struct OpenRequests {
    /// How long a request may stay pending: longer than an ATT transaction may last (behaviour 5.23).
    static let timeout = Duration.seconds(40)

    /// The kind of response that ends a request.
    enum Kind: Hashable {
        case services, characteristics, read, write, notify, rssi, cancel
    }

    struct Entry {
        let kind: Kind
        let peer: UUID
        let attribute: AttributeHandle?
        let since: Instant
    }

    private(set) var entries: [UInt32: Entry] = [:]
    private var last: UInt32

    /// - Parameter first: The base of the request numbers, distinct from those of all other apps.
    init(first: UInt32) { last = first }

    /// Adds a request, and returns its number.
    mutating func add(_ kind: Kind, of peer: UUID, at attribute: AttributeHandle? = nil, now: Instant) -> UInt32 {
        last += 1
        entries[last] = Entry(kind: kind, peer: peer, attribute: attribute, since: now)
        return last
    }

    /// Removes the request for a response, and describes any fault.
    mutating func take(_ event: PeerEvent, number: UInt32, of peer: UUID) -> String? {
        guard let entry = entries.removeValue(forKey: number) else {
            return "an answer to nothing, \(number): \(event)"
        }
        guard entry.peer == peer, event.answers(entry) else { return "\(entry) was answered by \(event)" }
        return nil
    }

    /// Removes the requests of a connection that has ended.
    mutating func forget(_ peer: UUID) { entries = entries.filter { $0.value.peer != peer } }

    mutating func forgetAll() { entries = [:] }

    func isIdle(_ peer: UUID) -> Bool { !entries.contains { $0.value.peer == peer } }

    /// Whether a change to a subscription is pending.
    func changesNotification(of attribute: AttributeHandle, of peer: UUID) -> Bool {
        entries.contains { $0.value.kind == .notify && $0.value.attribute == attribute && $0.value.peer == peer }
    }

    /// The requests not answered in time, for an app that has been awake since `awake`.
    func overdue(now: Instant, awake: Instant) -> [String] {
        entries.sorted { $0.key < $1.key }.filter { now - max($0.value.since, awake) > Self.timeout }.map {
            "\($0.value.kind) was never answered"
        }
    }
}

extension PeerEvent {
    fileprivate func answers(_ entry: OpenRequests.Entry) -> Bool {
        switch (self, entry.kind) {
        case (.servicesDiscovered, .services), (.rssiRead, .rssi): true
        case (.characteristicsDiscovered(let handle, _), .characteristics): handle == entry.attribute
        case (.valueRead(let handle, _), .read), (.valueWritten(let handle, _), .write): handle == entry.attribute
        case (.notifyStateChanged(let handle, _, _), .notify): handle == entry.attribute
        default: false
        }
    }
}
