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

/// What one use has had of the radio. Its user keeps it, so that nothing is looked up on the air.
final class RadioShare {
    fileprivate(set) var time = RadioNode.AirTime()
}

/// Divides the air time of a node among its uses, each time that the radio changes hands.
struct RadioAccount {
    private var shares: [RadioUse: RadioShare] = [:]
    private var settled = RadioNode.AirTime()

    /// What has been used for what, as far as it has been settled.
    var uses: [RadioUse: RadioNode.AirTime] {
        shares.mapValues(\.time).filter { $0.value != RadioNode.AirTime() }
    }

    /// The share of a use, the same one each time.
    mutating func share(of use: RadioUse) -> RadioShare {
        if let share = shares[use] { return share }
        let share = RadioShare()
        shares[use] = share
        return share
    }

    /// What is more now was used for this; for nothing when the radio was free.
    mutating func settle(_ share: RadioShare?, at now: RadioNode.AirTime) {
        share?.time.add(now, since: settled)
        settled = now
    }

    /// A link is over: there may be as many as there are in a lifetime, and their number is given away again.
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
