import CoreBluetoothExtras

/// Receives the elements of a stream. When it overflows, because this process fell behind, another one takes its place:
/// of a value that is sent again and again, a loss does not matter.
///
/// - Throws: What a stream throws, other than ``ExtrasError/overflow``.
func receiveAll<Elements: AsyncSequence>(
    of stream: () -> Elements,
    isolation: isolated (any Actor)? = #isolation,
    _ receive: (Elements.Element) -> Void
) async throws where Elements.Failure == any Error {
    while true {
        do {
            for try await element in stream() { receive(element) }
            return
        } catch ExtrasError.overflow {
            try Task.checkCancellation()
        }
    }
}
