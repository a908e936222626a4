/// The 40 channels of Bluetooth LE, by channel index: 0 to 36 for data, 37 to 39 for primary advertising (Core Vol 6
/// Part A 2, Part B 1.4.1).
public enum RadioChannel {
    /// The number of channels.
    public static let count = 40

    /// Returns the centre frequency of a channel in MHz. An index above 39 yields that of channel 39.
    public static func megahertz(_ index: UInt8) -> Int {
        2_402 + 2 * Int(number(index))
    }

    /// Returns the RF channel number of a channel index: its place in the order of frequencies, 0 to 39.
    public static func number(_ index: UInt8) -> UInt8 {
        switch index {
        case 0...10: index + 1
        case 11...36: index + 2
        case 37: 0
        case 38: 12
        default: 39
        }
    }
}

/// A set of channels.
public struct RadioChannels: Hashable, Sendable {
    private var bits: UInt64 = 0

    /// All 40 channels, from 0 to 39.
    public static let all = RadioChannels(0...39)

    /// Creates a set from channel indices, ignoring those above 39.
    public init(_ indices: some Sequence<UInt8>) {
        for index in indices where index < RadioChannel.count { bits |= 1 << UInt64(index) }
    }

    /// Creates the set of the channels whose centre frequency lies within a range in MHz.
    public init(megahertz range: ClosedRange<Int>) {
        self.init((0..<UInt8(RadioChannel.count)).filter { range.contains(RadioChannel.megahertz($0)) })
    }

    /// Whether the set contains a channel index.
    public func contains(_ index: UInt8) -> Bool {
        index < RadioChannel.count && bits >> UInt64(index) & 1 == 1
    }

    /// The channel indices in ascending order.
    public var indices: [UInt8] { (0..<UInt8(RadioChannel.count)).filter(contains) }
}

extension RadioChannels: ExpressibleByArrayLiteral {
    /// Creates a set from channel indices, ignoring those above 39.
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}
