import DequeModule
import EventLoops

/// An endpoint that a dongle says something by: what is said waits for transfers, and transfers for what is said.
struct DongleInput {
    /// Transfers that may wait. A machine has a few.
    static let maximumWaiting = 64
    /// Octets that may wait for transfers: of a machine that asks for nothing, as while nobody has the controller open.
    static let maximumReady = 256 << 10

    private var waiting = Deque<(sequence: UInt32, length: Int)>()
    private var ready = Deque<ArraySlice<UInt8>>()
    private var readyCount = 0

    /// Something to say, in transfers of its own; false where there is no room for it.
    mutating func say(_ octets: [UInt8]) -> Bool {
        guard !octets.isEmpty, readyCount + octets.count <= Self.maximumReady else { return false }
        ready.append(octets[...])
        readyCount += octets.count
        return true
    }

    /// A transfer waits; false where there are too many.
    mutating func ask(_ sequence: UInt32, length: Int) -> Bool {
        guard waiting.count < Self.maximumWaiting else { return false }
        waiting.append((sequence, length))
        return true
    }

    /// A transfer waits no longer; false where it has not.
    mutating func unlink(_ sequence: UInt32) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.sequence == sequence }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Whoever has read reads no more: what is left of a packet would be the front of one to the next.
    mutating func abandon() {
        if waiting.isEmpty { forget() }
    }

    /// Transfers that have something now, or have no room for anything.
    ///
    /// - Parameter splitting: Cuts and joins them by lot; nil where each packet is a transfer, or several where it is too long for one.
    mutating func replies(splitting: RandomSource?) -> [USBIPReply] {
        var replies: [USBIPReply] = []
        while let first = waiting.first, first.length == 0 || readyCount > 0 {
            waiting.removeFirst()
            let octets = take(first.length, splitting: splitting)
            replies.append(.submitted(sequence: first.sequence, status: .done, length: octets.count, octets: octets))
        }
        return replies
    }

    private mutating func take(_ room: Int, splitting: RandomSource?) -> [UInt8] {
        guard room > 0, let first = ready.first else { return [] }
        let most = min(room, splitting == nil ? first.count : readyCount)
        // Every other one: an emulated machine has its hands full with these.
        let cut = splitting.flatMap { $0.below(2) == 0 ? 1 + Int($0.below(UInt64(most))) : nil }
        var count = cut ?? most
        var octets: [UInt8] = []
        readyCount -= count
        while count > 0, let next = ready.popFirst() {
            octets += next.prefix(count)
            if next.count > count { ready.prepend(next.dropFirst(count)) }
            count -= min(count, next.count)
        }
        return octets
    }

    /// Nothing has been said.
    mutating func forget() {
        ready.removeAll()
        readyCount = 0
    }
}
