/// The 40 channels of Bluetooth LE, by their index: 0 to 36 for data, 37 to 39 for primary advertising (Core Vol 6 Part A
/// 2, Part B 1.4.1).
public enum RadioChannel {
    /// How many there are.
    public static let count = 40

    /// The centre of a channel in MHz; of the last one for an index that there is none of.
    public static func megahertz(_ index: UInt8) -> Int {
        2_402 + 2 * Int(number(index))
    }

    /// The place of a channel in the order of the frequencies, 0 to 39: the RF channel.
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

/// Some of the channels.
public struct RadioChannels: Hashable, Sendable {
    private var bits: UInt64 = 0

    /// All channels.
    public static let all = RadioChannels(0...39)

    /// The channels with these indices; others than 0 to 39 are left out.
    public init(_ indices: some Sequence<UInt8>) {
        for index in indices where index < RadioChannel.count { bits |= 1 << UInt64(index) }
    }

    /// The channels whose centre is within a range of frequencies in MHz.
    public init(megahertz range: ClosedRange<Int>) {
        self.init((0..<UInt8(RadioChannel.count)).filter { range.contains(RadioChannel.megahertz($0)) })
    }

    /// Whether a channel is one of them.
    public func contains(_ index: UInt8) -> Bool {
        index < RadioChannel.count && bits >> UInt64(index) & 1 == 1
    }

    /// The indices, in ascending order.
    public var indices: [UInt8] { (0..<UInt8(RadioChannel.count)).filter(contains) }
}

extension RadioChannels: ExpressibleByArrayLiteral {
    /// The channels with these indices.
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}
