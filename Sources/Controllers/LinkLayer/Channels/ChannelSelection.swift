import EventLoops

/// The channel hopping of a connection (Core Vol 6 Part B 4.5.8).
enum ChannelSelection: Hashable {
    case algorithm1(ChannelSelection1)
    case algorithm2(ChannelSelection2)

    /// Returns the channel of the next connection event, whose event counter is `counter`.
    mutating func next(counter: UInt16, map: ChannelMap) -> UInt8 {
        switch self {
        case .algorithm1(var selection):
            let channel = selection.next(map: map)
            self = .algorithm1(selection)
            return channel
        case .algorithm2(let selection):
            return selection.channel(counter: counter, map: map)
        }
    }

    /// Skips events that a peripheral does not listen to.
    mutating func skip(_ events: Int) {
        guard case .algorithm1(var selection) = self else { return }
        selection.skip(events)
        self = .algorithm1(selection)
    }

    /// Undoes the skipping of the last events.
    mutating func unskip(_ events: Int) {
        guard case .algorithm1(var selection) = self else { return }
        // Skips forward around the circle to the earlier position.
        let channels = Int(ChannelMap.channels)
        selection.skip((channels - events % channels) % channels)
        self = .algorithm1(selection)
    }
}

/// Channel selection algorithm #1 (4.5.8.2): a fixed hop.
struct ChannelSelection1: Hashable {
    /// The hop increment, 5 to 16.
    let hop: UInt8
    private var lastUnmapped: UInt8 = 0

    init(hop: UInt8) {
        self.hop = hop
    }

    mutating func next(map: ChannelMap) -> UInt8 {
        lastUnmapped = (lastUnmapped + hop % ChannelMap.channels) % ChannelMap.channels
        if map.contains(lastUnmapped) || map.used.isEmpty { return lastUnmapped }
        return map.used[Int(lastUnmapped) % map.used.count]
    }

    mutating func skip(_ events: Int) {
        let total = Int(lastUnmapped) + Int(hop) * max(events, 0)
        lastUnmapped = UInt8(total % Int(ChannelMap.channels))
    }
}

/// Channel selection algorithm #2 (4.5.8.3): a hash of the event counter and the access address.
struct ChannelSelection2: Hashable {
    private let identifier: UInt16

    init(accessAddress: UInt32) {
        identifier = UInt16(truncatingIfNeeded: accessAddress >> 16) ^ UInt16(truncatingIfNeeded: accessAddress)
    }

    /// Returns prn_e, the pseudo-random number of an event (4.5.8.3.3).
    func random(counter: UInt16) -> UInt16 {
        var value = counter ^ identifier
        for _ in 0..<3 {
            value = permuted(value)
            value = value &* 17 &+ identifier
        }
        return value ^ identifier
    }

    func channel(counter: UInt16, map: ChannelMap) -> UInt8 {
        let random = random(counter: counter)
        let unmapped = UInt8(random % UInt16(ChannelMap.channels))
        if map.contains(unmapped) || map.used.isEmpty { return unmapped }
        return map.used[(map.used.count * Int(random)) >> 16]
    }

    /// Reverses the bits of each octet (4.5.8.3.2).
    private func permuted(_ value: UInt16) -> UInt16 {
        var result = value
        result = (result & 0x5555) << 1 | (result & 0xAAAA) >> 1
        result = (result & 0x3333) << 2 | (result & 0xCCCC) >> 2
        result = (result & 0x0F0F) << 4 | (result & 0xF0F0) >> 4
        return result
    }
}

/// The channels of a link: the hopping sequence, the map that restricts it, and the channel of the event in progress
/// (Core Vol 6 Part B 4.5.8).
struct ChannelHopping {
    private var selection: ChannelSelection
    private(set) var map: ChannelMap
    private(set) var channel: UInt8 = 0

    init(_ selection: ChannelSelection, map: ChannelMap) {
        self.selection = selection
        self.map = map
    }

    /// Chooses the channel of the next event, whose event counter is `counter`.
    mutating func hop(counter: UInt16) {
        channel = selection.next(counter: counter, map: map)
    }

    /// Skips events that a peripheral does not listen to.
    mutating func skip(_ events: Int) {
        selection.skip(events)
    }

    /// Undoes the skipping of the last events.
    mutating func unskip(_ events: Int) {
        selection.unskip(events)
    }

    /// Moves on by `events` events, the last of which has this event counter.
    mutating func pass(_ events: Int, last counter: UInt16) {
        skip(events - 1)
        hop(counter: counter)
    }

    /// Whether the next events use the same channels as those of the other end of the link.
    func isInStep(with other: ChannelHopping) -> Bool {
        selection == other.selection && map.bits == other.map.bits
    }

    /// Applies a new channel map, from the next event on (5.1.2).
    mutating func restrict(to map: ChannelMap) {
        self.map = map
    }
}

/// The access address of advertising, and the rules for that of a connection (Core Vol 6 Part B 2.1.2).
enum AccessAddress {
    /// The access address of all advertising channels.
    static let advertising: UInt32 = 0x8E89_BED6

    /// Returns a random access address that cannot be mistaken for noise or for advertising.
    static func random(_ random: RandomSource) -> UInt32 {
        while true {
            let candidate = UInt32(truncatingIfNeeded: random.next() >> 32)
            if isValid(candidate) { return candidate }
        }
    }

    /// Whether an access address follows all the rules.
    static func isValid(_ address: UInt32) -> Bool {
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
        let changes = (address ^ address >> 1) & 0x7FFF_FFFF
        return (address ^ advertising).nonzeroBitCount > 1
            && Set(octets).count > 1
            && longestRun(address) <= 6
            && changes.nonzeroBitCount <= 24
            && (changes >> 26).nonzeroBitCount >= 2
            // These two are required by receivers for the Coded PHY.
            && (address & 0xFF).nonzeroBitCount >= 3
            && (changes & 0x7FFF).nonzeroBitCount <= 11
    }

    private static func longestRun(_ address: UInt32) -> Int {
        var (longest, run) = (1, 1)
        for bit in 1..<32 {
            run = address >> bit & 1 == address >> (bit - 1) & 1 ? run + 1 : 1
            longest = max(longest, run)
        }
        return longest
    }
}
