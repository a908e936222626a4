import CoreBluetoothExtras
import Testing

@testable import Page

/// The streams that follow one that overflows.
@Suite struct OverflowsTests {
    private func stream(_ elements: [Int], _ error: ExtrasError?) -> AsyncThrowingStream<Int, any Error> {
        AsyncThrowingStream { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish(throwing: error)
        }
    }

    @Test("a stream that overflows is followed by another, until one ends or fails")
    func anotherStream() async throws {
        var received: [Int] = []
        var streams = [stream([1, 2], .overflow), stream([3], .overflow), stream([4], nil), stream([5], .replaced)]
        try await receiveAll(of: { streams.removeFirst() }) { received.append($0) }
        #expect(received == [1, 2, 3, 4])
        await #expect(throws: ExtrasError.replaced) {
            try await receiveAll(of: { streams.removeFirst() }) { received.append($0) }
        }
        #expect(received == [1, 2, 3, 4, 5])
    }

    @Test("nothing follows a stream that overflows once its task is cancelled")
    func cancelled() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var count = 0
            try? await receiveAll(of: {
                count += 1
                return stream([], count < 3 ? .overflow : nil)
            }) { _ in }
            return count
        }
        #expect(await task.value == 1)
    }
}
