import HCI
import Testing

@Suite struct SoundingStepTests {
    @Test("the permutations of antenna paths are those that AOSP and Bumble's run_channel_sounding.py list")
    func permutations() {
        let some: [UInt8: [Int]] = [
            0: [1, 2, 3, 4], 1: [2, 1, 3, 4], 3: [3, 1, 2, 4], 5: [2, 3, 1, 4], 8: [1, 4, 2, 3], 11: [2, 4, 1, 3],
            14: [1, 3, 4, 2], 17: [4, 3, 1, 2], 18: [4, 2, 3, 1], 20: [4, 3, 2, 1], 23: [2, 3, 4, 1],
        ]
        for (permutation, order) in some {
            #expect(LESoundingMode2.order(permutation, of: 4).map { $0 + 1 } == order, "\(permutation)")
        }
        #expect(Set((0..<24).map { LESoundingMode2.order($0, of: 4) }).count == 24)
        #expect((0..<6).allSatisfy { LESoundingMode2.order($0, of: 3) == LESoundingMode2.order($0, of: 4).dropLast() })
        #expect(LESoundingMode2.order(255, of: 4).sorted() == [0, 1, 2, 3])
    }
}
