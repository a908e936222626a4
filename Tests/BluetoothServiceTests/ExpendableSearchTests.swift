import EventLoops
import Testing

@testable import BluetoothService

@Suite struct ExpendableSearchTests {
    @Test("AB-G05: an element of a full queue is examined once, however many follow it")
    func eachElementIsExaminedOnce() {
        var (queue, search, examined) = ([Bool](), ExpendableSearch(), 0)
        for _ in 0..<EventMailbox.maximumWaiting {
            queue.append(false)
            let found = search.first(in: queue) { isExpendable in
                examined += 1
                return isExpendable
            }
            #expect(found == nil)
        }
        #expect(examined == EventMailbox.maximumWaiting)
        // Each expendable element gives way to the next one, and the others are not examined for it.
        for _ in 0..<100 {
            queue.append(true)
            let found = search.first(in: queue) { isExpendable in
                examined += 1
                return isExpendable
            }
            #expect(found == EventMailbox.maximumWaiting)
            queue.removeLast()
            search.removed(at: EventMailbox.maximumWaiting)
        }
        #expect(examined == EventMailbox.maximumWaiting + 100)
    }

    @Test("in any order of operations, the search finds what one from the start would find")
    func randomOperations() {
        let random = RandomSource(seed: 3)
        var (queue, search) = ([Bool](), ExpendableSearch())
        for _ in 0..<20_000 {
            switch random.below(8) {
            case 0...3: queue.append(random.below(4) == 0)
            case 4, 5:
                guard !queue.isEmpty else { continue }
                let index = random.below(2) == 0 ? 0 : Int(random.below(UInt64(queue.count)))
                queue.remove(at: index)
                search.removed(at: index)
            case 6:
                queue.removeLast(min(queue.count, 2))
                search.shortened(to: queue.count)
            default:
                let found = search.first(in: queue) { $0 }
                #expect(found == queue.firstIndex(of: true))
                if queue.count > 200 {
                    queue.removeAll { !$0 }
                    search.restart()
                }
            }
        }
    }
}
