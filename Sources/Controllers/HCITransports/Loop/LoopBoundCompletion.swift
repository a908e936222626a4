import NIOCore

/// A completion handler that lives on the loop, in a box that swift-nio futures can capture. They complete on the same
/// loop.
struct LoopBoundCompletion<Value>: @unchecked Sendable {
    // Safe: created and called on the loop only, which both check.
    private let completion: (Value) -> Void
    private let loop: NIOEventLoop

    init(_ completion: @escaping (Value) -> Void, loop: NIOEventLoop) {
        loop.nio.preconditionInEventLoop()
        self.completion = completion
        self.loop = loop
    }

    func call(_ value: Value) {
        loop.nio.preconditionInEventLoop()
        completion(value)
    }
}
