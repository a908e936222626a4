/// The next event of each advertiser, in buckets of a quarter of a millisecond. The cost of an event does not depend on
/// the number of advertisers.
struct EventWheel {
    /// The length of a bucket, in microseconds.
    static let slot: Int64 = 250

    /// The first advertiser of each bucket, and for each advertiser the next one in its bucket; -1 for none.
    private var heads: [Int32]
    private var links: [Int32]
    private let mask: Int

    /// - Parameter longest: The longest time for which an event is scheduled ahead, in microseconds.
    init(devices: Int, longest: Int64) {
        var size = 1
        while size < Int(longest / Self.slot) + 2 { size *= 2 }
        mask = size - 1
        heads = [Int32](repeating: -1, count: size)
        links = [Int32](repeating: -1, count: devices)
    }

    mutating func schedule(_ device: Int, at time: Int64) {
        let bucket = Int(time / Self.slot) & mask
        links[device] = heads[bucket]
        heads[bucket] = Int32(device)
    }

    /// Removes all events of the bucket that contains `time`, and appends their devices to `devices`.
    mutating func remove(at time: Int64, into devices: inout [Int]) {
        let bucket = Int(time / Self.slot) & mask
        var next = heads[bucket]
        heads[bucket] = -1
        while next >= 0 {
            devices.append(Int(next))
            next = links[Int(next)]
        }
    }
}
