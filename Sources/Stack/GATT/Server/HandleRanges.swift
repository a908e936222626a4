/// A sorted set of handle ranges that neither overlap nor touch.
struct HandleRanges: Hashable, Sendable {
    /// The maximum number of ranges. Beyond it, the two closest ones are merged.
    static let maximumCount = 16

    private(set) var ranges: [ClosedRange<UInt16>] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func insert(_ new: ClosedRange<UInt16>) {
        var new = new
        ranges.removeAll { range in
            guard Self.touch(range, new) else { return false }
            new = min(range.lowerBound, new.lowerBound)...max(range.upperBound, new.upperBound)
            return true
        }
        ranges.insert(new, at: ranges.firstIndex { $0.lowerBound > new.lowerBound } ?? ranges.count)
        while ranges.count > Self.maximumCount { joinClosest() }
    }

    mutating func popFirst() -> ClosedRange<UInt16>? {
        ranges.isEmpty ? nil : ranges.removeFirst()
    }

    private static func touch(_ a: ClosedRange<UInt16>, _ b: ClosedRange<UInt16>) -> Bool {
        Int(a.lowerBound) <= Int(b.upperBound) + 1 && Int(b.lowerBound) <= Int(a.upperBound) + 1
    }

    private mutating func joinClosest() {
        let gaps = (1..<ranges.count).map { (ranges[$0].lowerBound - ranges[$0 - 1].upperBound, $0) }
        guard let index = gaps.min(by: { $0 < $1 })?.1 else { return }
        ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
        ranges.remove(at: index)
    }
}
