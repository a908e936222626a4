import EventLoops
import Foundation
import HCI
import LinkLayer
import ServiceEvents
import ServiceMessages

/// Attributes the radio time of a device to its apps, from readings of its virtual controller and the events of its
/// system.
///
/// Each reading ends a span. What the radio did in the span is shared by the apps that used it for the purpose then, so
/// a reading has to precede each event.
package struct EnergyTracker: Sendable {
    /// The kinds of events that ``accept(_:)`` needs.
    package static let kinds: Observation.Kinds = [.managers, .messages, .links]
    /// The maximum number of links of which the host does not know yet.
    private static let maximumUnknown = 64

    private var ledger = EnergyLedger()
    private var holders = EnergyHolders()
    private var last: (controller: Int, times: [RadioUse: RadioTime])
    private let start: Instant
    private var peers: [ConnectionHandle: UUID] = [:]
    /// The usage of links whose peer the host does not know yet.
    private var unknown: [ConnectionHandle: [LinkTraffic: RadioUsage]] = [:]

    /// Creates a tracker of what the radio does from now on.
    ///
    /// - Parameters:
    ///   - times: What each use of the radio has spent by now.
    ///   - controller: The number of the controller.
    ///   - now: The time.
    package init(from times: [RadioUse: RadioTime], of controller: Int, at now: Instant) {
        (last, start) = ((controller, times), now)
    }

    /// Takes in a reading.
    ///
    /// - Parameters:
    ///   - times: What each use of the radio has spent since the controller was created.
    ///   - controller: The number of the controller among those that the device has had.
    ///   - powers: The transmit powers of the radio node in dBm, in the node's order.
    ///   - observation: The event that the reading precedes, if there is one.
    package mutating func settle(
        _ times: [RadioUse: RadioTime],
        of controller: Int,
        powers: [Int8],
        before observation: Observation? = nil
    ) {
        let isSame = last.controller == controller
        let earlier = isSame ? last.times : [:]
        // The handles of another controller are other links.
        if !isSame { peers = [:] }
        for (use, time) in times {
            var spent = RadioTime()
            spent.add(time, since: earlier[use] ?? RadioTime())
            guard !spent.isEmpty else { continue }
            enter(RadioUsage(spent, powers: powers), for: use, before: observation)
        }
        last = (controller, times)
    }

    /// Takes in that the controller's account of a link is about to be closed. The reading precedes it.
    package mutating func retire(_ link: ConnectionHandle) {
        for traffic in LinkTraffic.allCases { last.times[.link(link, traffic)] = nil }
        if let peer = peers.removeValue(forKey: link) { flush(link, to: peer) }
    }

    /// Takes in an event. A reading precedes it.
    package mutating func accept(_ observation: Observation) {
        let subject = observation.subject
        switch observation.content {
        case .linkMade:
            guard let link = subject.link, let peer = subject.peer else { return }
            peers[link] = peer
            flush(link, to: peer)
        case .linkEnded:
            if let peer = subject.peer { holders.linkEnded(to: peer) }
            if let link = subject.link, peers[link] == subject.peer { peers[link] = nil }
        default:
            guard let app = subject.app, let id = subject.manager else { return }
            holders.accept(observation.content, of: EnergyHolders.Manager(app: app, id: id))
        }
    }

    /// Returns the report of the time since the tracker was created. A reading precedes it.
    ///
    /// - Parameter isEstimate: Whether the readings are estimates.
    package func report(_ profile: RadioProfile, at now: Instant, isEstimate: Bool = false) -> EnergyReport {
        var ledger = ledger
        for usages in unknown.values { for usage in usages.values { ledger.enter(usage, sharedBy: []) } }
        var report = EnergyReport(
            of: ledger,
            in: now - start,
            profile,
            names: holders.names,
            isEstimate: isEstimate
        )
        report.start = start
        return report
    }

    // MARK: Attribution

    private mutating func enter(_ usage: RadioUsage, for use: RadioUse, before observation: Observation?) {
        switch use {
        case .scanning: ledger.enter(usage, sharedBy: holders.scanners)
        case .advertising: ledger.enter(usage, sharedBy: holders.advertisers)
        case .initiating: ledger.enter(usage, sharedBy: holders.connectors)
        // Entered while the link was there.
        case .endedLinks: break
        case .link(let link, let traffic):
            if let peer = peers[link] { return enter(usage, traffic, to: peer, before: observation) }
            guard unknown[link] != nil || unknown.count < Self.maximumUnknown else {
                return ledger.enter(usage, sharedBy: [])
            }
            unknown[link, default: [:]][traffic, default: RadioUsage()] += usage
        }
    }

    private mutating func enter(
        _ usage: RadioUsage,
        _ traffic: LinkTraffic,
        to peer: UUID,
        before observation: Observation?
    ) {
        switch traffic {
        case .empty, .listening: ledger.enter(usage, sharedBy: holders.sharing(peer, for: .link(peer)))
        case .control:
            ledger.enter(usage, sharedBy: holders.sharing(peer, for: .procedure(.linkControl, peer)))
        case .data:
            let (event, manager) = Self.purpose(of: observation, peer)
            ledger.enter(usage, sharedBy: holders.data(of: peer, endedBy: event, for: manager))
        }
    }

    /// Returns the purpose of data that an event was made of: a notification for an app, or pairing.
    private static func purpose(
        of observation: Observation?,
        _ peer: UUID
    ) -> (EnergyUse?, EnergyHolders.Manager?) {
        guard let observation, observation.subject.peer == peer else { return (nil, nil) }
        switch observation.content {
        case .delivered(.central(.peer(_, .valueNotified))):
            guard let app = observation.subject.app, let id = observation.subject.manager else { return (nil, nil) }
            return (.operation(.notifications, peer), EnergyHolders.Manager(app: app, id: id))
        case .secured: return (.procedure(.pairing, peer), nil)
        default: return (nil, nil)
        }
    }

    private mutating func flush(_ link: ConnectionHandle, to peer: UUID) {
        guard let usages = unknown.removeValue(forKey: link) else { return }
        for (traffic, usage) in usages { enter(usage, traffic, to: peer, before: nil) }
    }
}
