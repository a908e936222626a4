import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// A value of a peer.
private struct PeerValue: Hashable, Sendable {
    let peer: UUID
    let handle: AttributeHandle

    /// So that the same events give the same advice.
    var order: (String, AttributeHandle) { (peer.uuidString, handle) }
}

/// 12.8: a read of a value that notifies. The first read after subscribing is right: it has the value until the next
/// notification.
struct ReadWhileNotifying: CentralDetector {
    /// The maximum number of subscriptions that are followed. Then all are forgotten.
    private static let maximumValues = 256

    /// The subscribed values that the app has by a read. Those that it has by a notification are in
    /// ``CentralPicture/Peer/arrivals``. Each subscription begins anew.
    private var present: Set<PeerValue> = []

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if case (let peer, .notifyStateChanged(let handle, isNotifying: _, _))? = step.peerEvent {
            present.remove(PeerValue(peer: peer, handle: handle))
        }
        guard case (let id, .readCharacteristic(let handle))? = step.link else { return }
        let (peer, value) = (picture[id], PeerValue(peer: id, handle: handle))
        guard peer.notifying.contains(handle) else { return }
        guard present.contains(value) || peer.arrivals[handle] != nil else { return insert(value) }
        findings.add(
            .readWhileNotifying,
            peer: id,
            attribute: UInt32(handle),
            "read \(peer.words(handle)) of \(peer.words) while it was subscribed to it"
        )
    }

    private mutating func insert(_ value: PeerValue) {
        if !present.contains(value), present.count >= Self.maximumValues { present = [] }
        present.insert(value)
    }
}

/// 12.7: a subscription that brings hardly any values.
struct RareValues: CentralDetector {
    private static let maximumValues = 256

    /// When each subscription began, or was reported. ``CentralPicture/Peer/arrivals`` has the values since then.
    private var quietSince: [PeerValue: Instant] = [:]
    /// No subscription is quiet for too long before this; nil without subscriptions.
    private var due: Instant?

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if case .passed = step { return evaluate(picture, &findings) }
        if step.endsAll { quietSince = [:] }
        if let ended = step.endedPeer { quietSince = quietSince.filter { $0.key.peer != ended } }
        guard case (let peer, let event)? = step.peerEvent else { return }
        switch event {
        case .notifyStateChanged(let handle, isNotifying: true, nil):
            guard quietSince.count < Self.maximumValues else { return }
            quietSince[PeerValue(peer: peer, handle: handle)] = findings.now
            due = due ?? findings.now + AdviceThresholds.rareValues
        case .notifyStateChanged(let handle, isNotifying: false, _):
            quietSince[PeerValue(peer: peer, handle: handle)] = nil
        default: break
        }
    }

    private mutating func evaluate(_ picture: CentralPicture, _ findings: inout Findings) {
        let now = findings.now
        guard let due, now > due else { return }
        for value in quietSince.keys {
            guard let arrival = picture.peers[value.peer]?.arrivals[value.handle] else { continue }
            if let since = quietSince[value], arrival > since { quietSince[value] = arrival }
        }
        let quiet = quietSince.filter { now - $0.value > AdviceThresholds.rareValues }
        defer { self.due = quietSince.values.min().map { $0 + AdviceThresholds.rareValues } }
        for value in quiet.keys.sorted(by: { $0.order < $1.order }) {
            // Counted again after another such time.
            quietSince[value] = now
            let peer = picture[value.peer]
            findings.add(
                .rareValues,
                peer: value.peer,
                attribute: UInt32(value.handle),
                at: peer.subscribing[value.handle],
                "was subscribed to \(peer.words(value.handle)) of \(peer.words), which had no new value for "
                    + AdviceThresholds.rareValues.words
            )
        }
    }
}

/// 12.21: a write that is slightly too long for one packet, so that it is prepared in several (Core Vol 3 Part G
/// 4.9.4).
struct LongWrites: CentralDetector {
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        guard case (let id, .writeCharacteristic(let handle, value: let value))? = step.link else { return }
        let peer = picture[id]
        let excess = value.count - peer.maximumWrite
        guard peer.link == .connected, (1...AdviceThresholds.justAbove).contains(excess) else { return }
        findings.add(
            .fittingValues,
            peer: id,
            attribute: UInt32(handle),
            "wrote \(value.count) octets to \(peer.words(handle)) of \(peer.words), \(excess) more than fit into one "
                + "packet, so that it takes several"
        )
    }
}

/// 12.22: large data by attributes in one connection. ``CentralPicture`` counts the octets.
struct BulkByAttributes: CentralDetector {
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if let (peer, request) = step.link {
            count(request.valueOctets, from: picture[peer].octets, peer, picture, &findings)
        } else if case (let peer, .valueRead(_, .success(let value)))? = step.peerEvent {
            count(value.count, from: picture[peer].octets, peer, picture, &findings)
        }
    }

    /// Takes in a number of octets after `old` others.
    func count(_ octets: Int, from old: Int, _ id: UUID, _ picture: CentralPicture, _ findings: inout Findings) {
        guard old < AdviceThresholds.bulk, old + octets >= AdviceThresholds.bulk, picture[id].link == .connected else {
            return
        }
        findings.add(
            .bulkOverChannels,
            peer: id,
            "moved more than \(AdviceThresholds.bulk / 1_000) kB as values of attributes in one connection with "
                + picture[id].words
        )
    }
}

/// 12.6: reads again and again of a value that can notify.
struct Polling: CentralDetector {
    /// The maximum number of values that are followed. Then all are forgotten.
    private static let maximumValues = 256

    private var reads: [PeerValue: RecentTimes] = [:]

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if step.endsAll { reads = [:] }
        if let ended = step.endedPeer { reads = reads.filter { $0.key.peer != ended } }
        guard case (let id, .readCharacteristic(let handle))? = step.link else { return }
        let peer = picture[id]
        // While it notifies, 12.8 applies.
        guard peer.characteristics[handle]?.canNotify == true, !peer.notifying.contains(handle) else { return }
        let value = PeerValue(peer: id, handle: handle)
        if reads[value] == nil, reads.count >= Self.maximumValues { reads = [:] }
        guard reads[value, default: RecentTimes()].add(findings.now) else { return }
        findings.add(
            .subscribeRatherThanPoll,
            peer: id,
            attribute: UInt32(handle),
            "read \(peer.words(handle)) of \(peer.words) \(AdviceThresholds.polls) times within "
                + "\(AdviceThresholds.polling.words), although it can notify"
        )
    }
}
