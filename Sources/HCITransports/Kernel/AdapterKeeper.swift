/// Keeps the socket of an adapter beyond the end of this process, so that nobody else takes the adapter before the next one is there.
package protocol AdapterKeeper: Sendable {
    /// The socket is to be kept, until it is forgotten.
    func keep(_ socket: Int32)
    /// Whoever closes it now gives the adapter back.
    func forget()
}
