import DequeModule
import EventLoops

/// An IN endpoint of a dongle. It matches queued data with pending transfers.
struct DongleInput {
    /// The maximum number of pending transfers. A host uses a few.
    static let maximumWaiting = 64
    /// The maximum amount of queued data, in octets, for a host that starts no transfers because no driver has the
    /// controller open.
    static let maximumReady = 256 << 10
    /// The length of the header of an event (Core Vol 4 Part E 5.4.4).
    private static let headerLength = 2

    private var waiting = Deque<(sequence: UInt32, length: Int)>()
    private var ready = Deque<ArraySlice<UInt8>>()
    private var readyCount = 0

    /// Queues data, which starts a new transfer.
    ///
    /// - Returns: False if the data was dropped because the queue is full.
    mutating func enqueue(_ octets: [UInt8]) -> Bool {
        guard !octets.isEmpty, readyCount + octets.count <= Self.maximumReady else { return false }
        ready.append(octets[...])
        readyCount += octets.count
        return true
    }

    /// Adds a pending transfer.
    ///
    /// - Returns: False if there are too many.
    mutating func ask(_ sequence: UInt32, length: Int) -> Bool {
        guard waiting.count < Self.maximumWaiting else { return false }
        waiting.append((sequence, length))
        return true
    }

    /// Removes a pending transfer.
    ///
    /// - Returns: False if the transfer is not pending.
    mutating func unlink(_ sequence: UInt32) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.sequence == sequence }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Drops queued data if no transfer is pending, because the reader has gone. The rest of a packet would look like
    /// the start of one to the next reader.
    mutating func abandon() {
        if waiting.isEmpty { forget() }
    }

    /// Completes the pending transfers for which there is data, and those with a length of zero.
    ///
    /// - Parameter splitting: Splits and joins transfers at random. With nil each packet is one transfer, or several if
    ///   it is too long.
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
        // Only every other transfer is cut, because each costs an emulated machine much time.
        let cut = splitting.flatMap { $0.below(2) == 0 ? 1 + Int($0.below(UInt64(most))) : nil }
        var count = cut ?? most
        var octets: [UInt8] = []
        while count > 0, let next = ready.first {
            // Newer kernels of Linux drop what follows an event in a transfer if it is no whole header (btusb_recv_intr).
            if !octets.isEmpty, count < Self.headerLength, count < next.count { break }
            ready.removeFirst()
            octets += next.prefix(count)
            if next.count > count { ready.prepend(next.dropFirst(count)) }
            count -= min(count, next.count)
        }
        readyCount -= octets.count
        return octets
    }

    mutating func forget() {
        ready.removeAll()
        readyCount = 0
    }
}
