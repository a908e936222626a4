import HCI
import Radio

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

/// The air time of one use. The user of the radio holds on to it, to avoid a lookup for each frame.
final class RadioShare {
    fileprivate(set) var time = RadioNode.AirTime()
}

/// Attributes the air time of a node to its uses, each time the radio changes owners.
struct RadioAccount {
    private var shares: [RadioUse: RadioShare] = [:]
    private var settled = RadioNode.AirTime()

    /// The air time of each use, as settled so far.
    var uses: [RadioUse: RadioNode.AirTime] {
        shares.mapValues(\.time).filter { $0.value != RadioNode.AirTime() }
    }

    /// Returns the share of a use, always the same object.
    mutating func share(of use: RadioUse) -> RadioShare {
        if let share = shares[use] { return share }
        let share = RadioShare()
        shares[use] = share
        return share
    }

    /// Attributes the air time since the last settlement to a share; to none if the radio was free.
    mutating func settle(_ share: RadioShare?, at now: RadioNode.AirTime) {
        share?.time.add(now, since: settled)
        settled = now
    }

    /// Moves the air time of an ended link to ``RadioUse/endedLinks(_:)``. This bounds the number of entries, and frees
    /// the handle for reuse.
    mutating func retire(_ link: ConnectionHandle) {
        for traffic in LinkTraffic.allCases {
            guard let time = shares.removeValue(forKey: .link(link, traffic))?.time else { continue }
            share(of: .endedLinks(traffic)).time.add(time, since: RadioNode.AirTime())
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
