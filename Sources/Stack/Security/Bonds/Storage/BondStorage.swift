import EventLoops

/// The storage of bonds.
package protocol BondStorage: AnyObject {
    var place: String { get }
    var records: any RecordStorage { get }

    /// Loads the state that was last saved; nil if there is none.
    ///
    /// - Throws: ``BondError`` if the state is incomplete or may have been exposed. None of it may then be used.
    func load() throws(BondError) -> StoredBonds?

    /// Replaces the stored state by `state`. It is durable when this returns: neither the end of the process nor a
    /// power failure undoes it. If this throws, either the old or the new state is stored, and never a part of one.
    func save(_ state: StoredBonds) throws(BondError)

    /// Stores `state` without blocking the event loop, if the storage has a thread for that. A state that is saved
    /// later takes precedence. Call on the event loop.
    ///
    /// - Parameter completion: Called once on the event loop, when the state or a newer one is durable, or saving
    ///   failed. Called from within this call if the storage does not wait for anything.
    func saveLater(_ state: StoredBonds, on loop: any EventLoop, completion: @escaping (BondError?) -> Void)

    /// Derives 32 octets that no other host can compute. They are the same each time for the same purpose, even if
    /// nothing was saved. Nil if the storage is not persistent.
    func derive(_ purpose: String) throws(BondError) -> [UInt8]?
}

extension BondStorage {
    /// Stores `state` at once.
    package func saveLater(
        _ state: StoredBonds,
        on loop: any EventLoop,
        completion: @escaping (BondError?) -> Void
    ) {
        do throws(BondError) {
            try save(state)
            completion(nil)
        } catch {
            completion(error)
        }
    }
}

/// Bonds in memory, for tests, simulations, and programs that must not write to the disk.
package final class MemoryBondStorage: BondStorage {
    package private(set) var state: StoredBonds?
    /// An error for ``save(_:)`` to throw, for instance to simulate a full disk.
    package var failure: BondError?
    /// Records that last as long as this object.
    package let records: any RecordStorage

    private let secret: HostSecret?

    /// Creates a storage that contains `state`.
    ///
    /// - Parameter secret: The source of a host secret, from which ``derive(_:)`` works for as long as this object
    ///   lasts. Without one, nothing can be derived.
    package init(
        _ state: StoredBonds? = nil,
        secret random: RandomSource? = nil,
        records: any RecordStorage = MemoryRecordStorage()
    ) {
        self.state = state
        self.records = records
        secret = random.map { HostSecret(random: $0, predecessor: nil) }
    }

    package var place: String { "memory" }

    package func load() -> StoredBonds? { state }

    /// Replaces the state, or throws ``failure``.
    package func save(_ state: StoredBonds) throws(BondError) {
        if let failure { throw failure }
        self.state = state
    }

    package func derive(_ purpose: String) -> [UInt8]? { secret?.deriveForOthers(purpose) }
}
