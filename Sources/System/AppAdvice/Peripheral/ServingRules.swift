import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.26: many services, or services whose UUIDs alternate between 16 and 128 bits: a central needs more requests for
/// the table, since a response has UUIDs of one width only (Core Vol 3 Part F 3.4.4.10).
struct ManyServices: PeripheralDetector {
    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        guard case .requested(.addService(let service)) = step else { return }
        let widths = (picture.services.map(\.uuid) + [service.uuid]).map { $0.shortValue != nil }
        if widths.count == AdviceThresholds.services + 1 {
            findings.add(
                .groupedServices,
                attribute: 0,
                "published more than \(count(AdviceThresholds.services, "service"))"
            )
        }
        guard Self.changes(widths) > 1, Self.changes(widths.dropLast()) < 2 else { return }
        findings.add(.groupedServices, attribute: 1, "published services with UUIDs of 16 and of 128 bits in turn")
    }

    private static func changes(_ widths: [Bool]) -> Int { zip(widths, widths.dropFirst()).count { $0 != $1 } }
}

/// 12.18: a value that every device in range may write.
struct OpenWrites: PeripheralDetector {
    /// Write and Write Without Response, of `CBCharacteristicProperties`.
    private static let write: UInt16 = 0x0C
    /// The bit `writeEncryptionRequired` of `CBAttributePermissions`.
    private static let encryption: UInt8 = 0x08

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        guard case .requested(.addService(let service)) = step else { return }
        for each in service.characteristics
        where each.properties & Self.write != 0 && each.permissions & Self.encryption == 0 {
            findings.add(
                .protectedWrites,
                attribute: each.id.rawValue,
                "published \(each.uuid.words), which every device in range may write"
            )
        }
    }
}

/// 12.19: a request of a central that waits for its response. All requests of the central wait with it.
struct LateResponses: PeripheralDetector {
    private static let maximumRequests = 256

    private struct Open: Sendable {
        let since: Instant
        let characteristic: LocalAttributeID?
        let isRead: Bool
    }

    private var open: [UInt64: Open] = [:]

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        switch step {
        case .delivered(.readRequested(transaction: let number, _, let id, offset: _)):
            guard open.count < Self.maximumRequests else { return }
            open[number] = Open(since: findings.now, characteristic: id, isRead: true)
        case .delivered(.writeRequested(transaction: let number, _, let writes, needsResponse: true)):
            guard open.count < Self.maximumRequests else { return }
            open[number] = Open(since: findings.now, characteristic: writes.first?.characteristic, isRead: false)
        case .requested(.respond(transaction: let number, _, value: _)): open[number] = nil
        case .changed: open = [:]
        case .passed: evaluate(picture, &findings)
        default: break
        }
    }

    private mutating func evaluate(_ picture: PeripheralPicture, _ findings: inout Findings) {
        let late = open.filter { [now = findings.now] in now - $0.value.since > AdviceThresholds.response }
        for (number, request) in late.sorted(by: { $0.key < $1.key }) {
            open[number] = nil
            findings.add(
                .promptResponses,
                attribute: request.characteristic?.rawValue,
                "left a \(request.isRead ? "read" : "write") of "
                    + "\(request.characteristic.map(picture.words) ?? "a value") without a response for more than "
                    + AdviceThresholds.response.words
            )
        }
    }
}

/// 12.21: a value that is too long for a notification to one of its subscribers, which receives its beginning only
/// (Core Vol 3 Part F 3.4.7.1).
struct TruncatedUpdates: PeripheralDetector {
    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        guard case .requested(.updateValue(let id, value: let value, centrals: let chosen)) = step,
            let subscribers = picture.characteristics[id]?.subscribers
        else { return }
        let receivers = chosen.map { subscribers.intersection($0) } ?? subscribers
        guard let least = receivers.compactMap({ picture.maximumUpdates[$0] }).min(), value.count > least
        else { return }
        findings.add(
            .fittingValues,
            attribute: id.rawValue,
            "updated \(picture.words(id)) with \(value.count) octets, of which a subscriber receives \(least)"
        )
    }
}

/// 12.22: large data to or from one central by attributes.
struct BulkUpdates: PeripheralDetector {
    /// The maximum number of centrals that are followed. Then all are forgotten.
    private static let maximumCentrals = 64

    /// The octets so far, by central; until its last subscription ends.
    private var octets: [UUID: Int] = [:]

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        switch step {
        case .requested(.updateValue(let id, value: let value, centrals: let chosen)):
            let subscribers = picture.characteristics[id]?.subscribers ?? []
            for central in chosen.map({ subscribers.intersection($0) }) ?? subscribers {
                add(value.count, central, &findings)
            }
        case .delivered(.writeRequested(transaction: _, let central, let writes, needsResponse: _)):
            add(writes.reduce(0) { $0 + $1.value.count }, central.identifier, &findings)
        // The last subscription of a central mostly ends with its connection.
        case .delivered(.unsubscribed(let central, let id)) where !picture.isSubscribed(central.identifier, besides: id):
            octets[central.identifier] = nil
        case .changed: octets = [:]
        default: break
        }
    }

    private mutating func add(_ number: Int, _ central: UUID, _ findings: inout Findings) {
        if octets[central] == nil, octets.count >= Self.maximumCentrals { octets = [:] }
        let old = octets[central, default: 0]
        octets[central] = old + number
        guard old < AdviceThresholds.bulk, old + number >= AdviceThresholds.bulk else { return }
        findings.add(
            .bulkOverChannels,
            peer: central,
            "moved more than \(AdviceThresholds.bulk / 1_000) kB as values of attributes in one connection"
        )
    }
}

/// 12.17: a value that changes, or that centrals read again and again, and that does not notify.
struct ValuesWithoutNotify: PeripheralDetector {
    /// The maximum number of values that are followed. Then all are forgotten.
    private static let maximumValues = 256

    private struct Value: Hashable, Sendable {
        let central: UUID
        let characteristic: LocalAttributeID
    }

    private var reads: [Value: RecentTimes] = [:]

    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings) {
        switch step {
        case .requested(.updateValue(let id, value: _, centrals: _)):
            guard picture.characteristics[id]?.canNotify == false else { return }
            findings.add(
                .notifyingValues,
                attribute: id.rawValue,
                "updated the value of \(picture.words(id)), to which no central can subscribe"
            )
        // The first part of a value; further ones belong to the same read.
        case .delivered(.readRequested(transaction: _, let central, let id, offset: 0)):
            guard picture.characteristics[id]?.canNotify == false else { return }
            let value = Value(central: central.identifier, characteristic: id)
            if reads[value] == nil, reads.count >= Self.maximumValues { reads = [:] }
            guard reads[value, default: RecentTimes()].add(findings.now) else { return }
            findings.add(
                .notifyingValues,
                attribute: id.rawValue,
                at: picture.characteristics[id]?.site,
                "had \(picture.words(id)) read \(AdviceThresholds.polls) times within "
                    + "\(AdviceThresholds.polling.words) by a central, which cannot subscribe to it"
            )
        // Each connection begins anew. It mostly ends with the last subscription of the central.
        case .delivered(.unsubscribed(let central, let id)) where !picture.isSubscribed(central.identifier, besides: id):
            reads = reads.filter { $0.key.central != central.identifier }
        case .delivered(.centralDisconnected(let central, _)): reads = reads.filter { $0.key.central != central }
        case .changed: reads = [:]
        default: break
        }
    }
}
