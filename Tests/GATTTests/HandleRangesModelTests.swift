import EventLoops
import Testing

@testable import GATT

/// Handle ranges compared with a set of handles.
@Suite struct HandleRangesModelTests {
    /// The runs of a set, in order.
    private func runs(_ handles: Set<UInt16>) -> [ClosedRange<UInt16>] {
        handles.sorted().reduce(into: []) { runs, handle in
            if let last = runs.last, Int(last.upperBound) + 1 == Int(handle) {
                runs[runs.count - 1] = last.lowerBound...handle
            } else {
                runs.append(handle...handle)
            }
        }
    }

    /// At the lowest and the highest handles, few enough for ranges to meet and to stay below the limit.
    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func rangesAreTheHandlesThatWereInserted(seed: UInt64) {
        let random = RandomSource(seed: seed)
        let base: UInt16 = seed.isMultiple(of: 2) ? 0 : .max - 28
        var (ranges, handles) = (HandleRanges(), Set<UInt16>())
        #expect(ranges.isEmpty)
        for _ in 0..<10 {
            let first = base + UInt16(random.below(25))
            let new = first...(first + UInt16(random.below(5)))
            ranges.insert(new)
            handles.formUnion(new)
            let expected = runs(handles)
            #expect(ranges.ranges == expected)
            #expect(!ranges.isEmpty)
        }
        for expected in runs(handles) { #expect(ranges.popFirst() == expected) }
        #expect(ranges.popFirst() == nil)
        #expect(ranges.isEmpty)
    }
}
