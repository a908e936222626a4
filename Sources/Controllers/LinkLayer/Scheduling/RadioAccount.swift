import EventLoops
import HCI

/// A purpose for which a controller uses its radio.
package enum RadioUse: Hashable, Sendable {
    /// The events of a connection, by kind of traffic.
    case link(ConnectionHandle, LinkTraffic)
    /// The events of all ended connections, by kind of traffic.
    case endedLinks(LinkTraffic)
    /// An advertising set, by handle; nil for that of the legacy commands. Includes responses to scan requests.
    case advertising(set: UInt8?)
    /// Scanning, including auxiliary PDUs and scan requests.
    case scanning
    /// Listening for peers to connect to.
    case initiating
}

/// The traffic on a link. Each transmission of a PDU counts for its sender and its receiver.
package enum LinkTraffic: Hashable, Sendable, CaseIterable {
    /// Data of the hosts.
    case data
    /// Empty PDUs, which keep the link alive or acknowledge.
    case empty
    /// Control PDUs of the link layers.
    case control
    /// Listening during which no readable frame arrived.
    case listening
}

/// The radio time that a controller spent for one use.
package struct RadioTime: Hashable, Sendable {
    /// The time on the air.
    package var air = RadioNode.AirTime()
    /// The time on the air by PHY and power.
    package var breakdown = RadioNode.Breakdown()
    /// The time within events during which the radio neither transmitted nor listened, in microseconds.
    package var idle: Int64 = 0
    /// The number of events: times that the use began while the controller was asleep, or took over from another one.
    package var events: Int64 = 0

    package init() {}

    /// Whether nothing was spent.
    package var isEmpty: Bool { self == RadioTime() }

    /// Adds what was spent between two readings of a radio.
    package mutating func add(_ later: RadioTime, since earlier: RadioTime) {
        air.add(later.air, since: earlier.air)
        breakdown.add(later.breakdown, since: earlier.breakdown)
        idle += later.idle - earlier.idle
        events += later.events - earlier.events
    }
}

/// The radio time of one use. The user of the radio holds on to it, to avoid a lookup for each frame.
final class RadioShare {
    fileprivate(set) var time = RadioTime()
}

/// Attributes the air time of a node to its uses, each time the radio changes owners.
struct RadioAccount {
    /// A use of the radio from claim to release.
    private struct Use {
        let start: Instant
        let air: RadioNode.AirTime
    }

    private var shares: [RadioUse: RadioShare] = [:]
    private var settledAir: RadioNode.AirTime
    private var settledBreakdown: RadioNode.Breakdown
    private var tenure: Use?

    /// Opens an account of a node's use from now on.
    init(of node: RadioNode) {
        settledAir = node.airTime
        settledBreakdown = node.breakdown
    }

    /// The air time of each use, as settled so far.
    var uses: [RadioUse: RadioNode.AirTime] {
        shares.mapValues(\.time.air).filter { $0.value != RadioNode.AirTime() }
    }

    /// The radio time of each use, as settled so far.
    var times: [RadioUse: RadioTime] {
        shares.mapValues(\.time).filter { !$0.value.isEmpty }
    }

    /// Returns the share of a use, always the same object.
    mutating func share(of use: RadioUse) -> RadioShare {
        if let share = shares[use] { return share }
        let share = RadioShare()
        shares[use] = share
        return share
    }

    /// Attributes the air time since the last settlement to a share; to none if the radio was free.
    mutating func settle(_ share: RadioShare?, with node: RadioNode) {
        let (air, breakdown) = (node.airTime, node.breakdown)
        share?.time.air.add(air, since: settledAir)
        share?.time.breakdown.add(breakdown, since: settledBreakdown)
        settledAir = air
        settledBreakdown = breakdown
    }

    /// Begins a use of the radio that has just been claimed.
    mutating func begin(at now: Instant, with node: RadioNode) {
        tenure = Use(start: now, air: node.airTime)
    }

    /// Counts an event of a use, and attributes the time during which the radio was idle in it.
    ///
    /// A frame counts in full at its start, so an event that ends during one has no idle time after it.
    mutating func end(_ share: RadioShare, at now: Instant, with node: RadioNode) {
        guard let tenure else { return }
        let air = node.airTime
        let busy = air.sending - tenure.air.sending + air.listening - tenure.air.listening
        share.time.idle += max(now.microseconds(since: tenure.start) - busy, 0)
        share.time.events += 1
        self.tenure = nil
    }

    /// Counts events of a use that has the radio busy all the time.
    mutating func count(_ events: Int, of share: RadioShare) {
        share.time.events += Int64(events)
    }

    /// Moves the air time of an ended link to ``RadioUse/endedLinks(_:)``. This bounds the number of entries, and frees
    /// the handle for reuse.
    mutating func retire(_ link: ConnectionHandle) {
        for traffic in LinkTraffic.allCases {
            guard let time = shares.removeValue(forKey: .link(link, traffic))?.time else { continue }
            share(of: .endedLinks(traffic)).time.add(time, since: RadioTime())
        }
    }
}

extension RadioNode.AirTime {
    fileprivate mutating func add(_ later: RadioNode.AirTime, since earlier: RadioNode.AirTime) {
        sending += later.sending - earlier.sending
        listening += later.listening - earlier.listening
        framesSent += later.framesSent - earlier.framesSent
        framesReceived += later.framesReceived - earlier.framesReceived
    }
}

extension RadioNode.Breakdown {
    fileprivate mutating func add(_ later: RadioNode.Breakdown, since earlier: RadioNode.Breakdown) {
        sendingByPHY = sendingByPHY &+ later.sendingByPHY &- earlier.sendingByPHY
        sendingByPower = sendingByPower &+ later.sendingByPower &- earlier.sendingByPower
        listeningByModulation = listeningByModulation &+ later.listeningByModulation &- earlier.listeningByModulation
        listens += later.listens - earlier.listens
    }
}
