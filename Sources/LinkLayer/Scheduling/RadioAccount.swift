import HCI
import Radio

/// What a controller uses its radio for.
package enum RadioUse: Hashable, Sendable {
    /// The events of a connection, by what goes over it.
    case link(ConnectionHandle, LinkTraffic)
    /// The events of all connections that are over.
    case endedLinks(LinkTraffic)
    /// An advertising set, by its handle; nil for that of the legacy commands. The answers to scanners belong to it.
    case advertising(set: UInt8?)
    /// Scanning, with what auxiliary pointers lead to and the requests that are made.
    case scanning
    /// Looking for peers to connect to.
    case initiating
}

/// What goes over a link: each PDU counts for its sender and for who reads it, every time that it is on the air.
package enum LinkTraffic: Hashable, Sendable, CaseIterable {
    /// What hosts have to say to each other.
    case data
    /// PDUs that say nothing, and keep the link or acknowledge.
    case empty
    /// What the link layers have to say to each other.
    case control
    /// Listening in which nothing came, or nothing that could be read.
    case listening
}

/// Divides the air time of a node among its uses, each time that the radio changes hands.
struct RadioAccount {
    private(set) var uses: [RadioUse: RadioNode.AirTime] = [:]
    private var settled = RadioNode.AirTime()

    /// What is more now was used for this; for nothing when the radio was free.
    mutating func settle(_ use: RadioUse?, at now: RadioNode.AirTime) {
        defer { settled = now }
        guard let use, now != settled else { return }
        uses[use, default: RadioNode.AirTime()].add(now, since: settled)
    }

    /// A link is over: there may be as many as there are in a lifetime, and their number is given away again.
    mutating func retire(_ link: ConnectionHandle) {
        for traffic in LinkTraffic.allCases {
            guard let time = uses.removeValue(forKey: .link(link, traffic)) else { continue }
            uses[.endedLinks(traffic), default: RadioNode.AirTime()].add(time, since: RadioNode.AirTime())
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
