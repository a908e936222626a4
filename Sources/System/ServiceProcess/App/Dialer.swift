/// Connects to a service. Used on the event loop.
package protocol Dialer {
    /// Tries to connect once. `completion` is called on the event loop.
    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void)
}
