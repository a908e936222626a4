/// Keeps an adapter's socket open beyond the end of this process, so that no other program can claim the adapter before
/// the next process starts.
package protocol AdapterKeeper: Sendable {
    /// Keeps the socket until ``forget()`` is called.
    func keep(_ socket: Int32)
    /// Stops keeping the socket. Closing the remaining descriptor then returns the adapter to the kernel.
    func forget()
}
