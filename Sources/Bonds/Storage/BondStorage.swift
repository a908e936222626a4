import EventLoops

/// Where bonds are kept.
package protocol BondStorage: AnyObject {
    /// Where that is, for a person.
    var place: String { get }
    /// Other things that are kept in the same place.
    var records: any RecordStorage { get }

    /// What was saved last; nil when nothing was.
    ///
    /// - Throws: when it cannot be had whole and in secret. Then nothing of it is to be used.
    func load() throws(BondError) -> StoredBonds?

    /// Keeps `state` in place of what was there. It is durable when this returns: neither the end of the process nor of
    /// the power takes it back. When this throws, either the old or the new state is kept, and never a part of one.
    func save(_ state: StoredBonds) throws(BondError)

    /// Keeps `state` without blocking the loop, where the storage has a thread for that. A state that is saved after it wins. On the loop only.
    ///
    /// - Parameter completion: Called once on the loop, when the state is durable, a newer one is, or saving failed; within this call where the
    ///   storage does not wait for anything.
    func saveLater(_ state: StoredBonds, on loop: any EventLoop, completion: @escaping (BondError?) -> Void)

    /// 32 octets that nobody else can make, the same each time for the same purpose, also when nothing was saved; nil where
    /// nothing lasts.
    func derive(_ purpose: String) throws(BondError) -> [UInt8]?
}

extension BondStorage {
    /// Keeps `state` at once.
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

/// Bonds that last as long as this object: for tests, for simulated worlds, and for whoever wants nothing on the disk.
package final class MemoryBondStorage: BondStorage {
    /// What was saved last.
    package private(set) var state: StoredBonds?
    /// Thrown by ``save(_:)`` in place of saving, to see what becomes of a full disk.
    package var failure: BondError?
    /// Other things that are kept as long.
    package let records: any RecordStorage

    private let secret: HostSecret?

    /// Nothing is kept, or `state`.
    ///
    /// - Parameter secret: Makes a secret of the host: what follows from it is the same as long as this object lasts. Without one
    ///   nothing follows.
    package init(
        _ state: StoredBonds? = nil,
        secret random: RandomSource? = nil,
        records: any RecordStorage = MemoryRecordStorage()
    ) {
        self.state = state
        self.records = records
        secret = random.map { HostSecret(random: $0, predecessor: nil) }
    }

    /// Says that it is memory.
    package var place: String { "memory" }

    /// What was saved last.
    package func load() -> StoredBonds? { state }

    /// Keeps `state`.
    package func save(_ state: StoredBonds) throws(BondError) {
        if let failure { throw failure }
        self.state = state
    }

    /// Octets that follow from the secret, if there is one.
    package func derive(_ purpose: String) -> [UInt8]? { secret?.deriveForOthers(purpose) }
}
