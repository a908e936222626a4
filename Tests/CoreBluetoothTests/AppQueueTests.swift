import CoreBluetooth
import Dispatch
import Testing

@Suite struct AppQueueTests {
    /// Several managers on the main queue, which is another object each time: a simulation that runs there must not wait for it.
    @Test @MainActor func eachManagersMainQueueIsTheMainQueue() {
        let queues = (0..<3).map { _ in AppQueue(.main) }
        for queue in queues { #expect(queue.isCurrent) }
        let other = AppQueue(DispatchQueue(label: "other"))
        #expect(!other.isCurrent)
        let isThere = other.queue.sync { other.isCurrent }
        #expect(isThere)
    }

    @Test func whoIsElsewhereIsNotOnTheMainQueue() {
        let main = AppQueue(.main)
        let isThere = DispatchQueue(label: "other").sync { main.isCurrent }
        #expect(!isThere)
    }
}
