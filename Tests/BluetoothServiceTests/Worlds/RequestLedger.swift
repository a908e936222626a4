import EventLoops
import Foundation

@testable import BluetoothService

/// What an app has asked of peripherals and waits for: each request ends by its answer, or by the end of the connection, of power or
/// of the app (behaviours 1.6, 3.39, 4.20).
struct RequestLedger {
    /// A request that was answered by nothing for longer than an attribute protocol may be silent (behaviour 5.23).
    static let patience = Duration.seconds(40)

    /// What kind of answer ends it.
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

    /// - Parameter first: No number of another app's requests is the same.
    init(first: UInt32) { last = first }

    /// A number for a request.
    mutating func add(_ kind: Kind, of peer: UUID, at attribute: AttributeHandle? = nil, now: Instant) -> UInt32 {
        last += 1
        entries[last] = Entry(kind: kind, peer: peer, attribute: attribute, since: now)
        return last
    }

    /// Takes an answer; what is wrong with it, in words.
    mutating func take(_ event: PeerEvent, number: UInt32, of peer: UUID) -> String? {
        guard let entry = entries.removeValue(forKey: number) else {
            return "an answer to nothing, \(number): \(event)"
        }
        guard entry.peer == peer, event.answers(entry) else { return "\(entry) was answered by \(event)" }
        return nil
    }

    /// The connection is over, and all that was asked there.
    mutating func forget(_ peer: UUID) { entries = entries.filter { $0.value.peer != peer } }

    mutating func forgetAll() { entries = [:] }

    func isIdle(_ peer: UUID) -> Bool { !entries.contains { $0.value.peer == peer } }

    /// Whether a subscription is being made or ended.
    func changesNotification(of attribute: AttributeHandle, of peer: UUID) -> Bool {
        entries.contains { $0.value.kind == .notify && $0.value.attribute == attribute && $0.value.peer == peer }
    }

    /// What was not answered in time by an app that has been awake since `awake`.
    func overdue(now: Instant, awake: Instant) -> [String] {
        entries.sorted { $0.key < $1.key }.filter { now - max($0.value.since, awake) > Self.patience }.map {
            "\($0.value.kind) was never answered"
        }
    }
}

extension PeerEvent {
    fileprivate func answers(_ entry: RequestLedger.Entry) -> Bool {
        switch (self, entry.kind) {
        case (.servicesDiscovered, .services), (.rssiRead, .rssi): true
        case (.characteristicsDiscovered(let handle, _), .characteristics): handle == entry.attribute
        case (.valueRead(let handle, _), .read), (.valueWritten(let handle, _), .write): handle == entry.attribute
        case (.notifyStateChanged(let handle, _, _), .notify): handle == entry.attribute
        default: false
        }
    }
}
