/// Makes lines to a service. On the loop.
package protocol Dialer {
    /// Tries once. `completion` is called on the loop.
    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void)
}
