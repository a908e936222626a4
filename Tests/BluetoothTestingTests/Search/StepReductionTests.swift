import BluetoothTesting
import Testing

@Suite struct StepReductionTests {
    @Test("a failing sequence is shrunk and still fails", arguments: [1, 2, 5])
    func failingSequencesAreShrunk(width: Int) async {
        for (first, second) in [(3, 17), (0, 29), (14, 15)] {
            var runs = 0
            let few = await StepReduction.reduced(Array(0..<30), width: width) { lists in
                runs += lists.count
                return lists.firstIndex { $0.contains(first) && $0.contains(second) }
            }
            #expect(few == [first, second])
            #expect(runs < 120 * width)
        }
        #expect(await StepReduction.reduced([1, 2, 3], width: width) { _ in 0 } == [])
    }
}
