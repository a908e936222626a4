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

    /// Applies a new channel map, from the next event on (5.1.2).
    mutating func restrict(to map: ChannelMap) {
        self.map = map
    }
}
