import Dispatch
import Foundation
import Testing

@testable import harald

/// Signals that come at once. Each test has signals of its own, which nothing else in this process uses.
@Suite struct InterruptsTests {
    @Test func aSignalThatComesAtOnceIsNotLost() {
        let arrived = DispatchSemaphore(value: 0)
        for number in 40..<60 as Range<Int32> {
            Interrupts.on(number) { arrived.signal() }
            sent(number)
            arrived.wait()
        }
    }

    @Test func eachSignalCountsThoughNobodyReadsMeanwhile() {
        let (arrived, queue) = (DispatchSemaphore(value: 0), DispatchQueue(label: "busy"))
        queue.suspend()
        Interrupts.on(60, queue: queue) { arrived.signal() }
        for _ in 0..<3 { sent(60) }
        queue.resume()
        for _ in 0..<3 { arrived.wait() }
    }

    /// Sends a signal to the process: threads of queues block it.
    private func sent(_ number: Int32) { kill(getpid(), number) }
}
