import EventLoops

/// The name of a record that is kept beside the bonds. The set of names is fixed.
package enum RecordSlot: Hashable, Sendable {
    /// The number of slots for apps.
    package static let apps = 64

    /// The preserved state of an app, `0..<apps`.
    case app(Int)
    /// The user's decisions about apps.
    case permissions
    /// The names of peers.
    case names
    /// The cached services of peers that are not bonded.
    case tables
    /// The features that controllers turned out not to support reliably.
    case controllers
    /// The accessories that apps have set up.
    case accessories

    package var name: String {
        switch self {
        case .app(let number): number < 10 ? "app-0\(number)" : "app-\(number)"
        case .permissions: "permissions"
        case .names: "names"
        case .tables: "tables"
        case .controllers: "controllers"
        case .accessories: "accessories"
        }
    }
}

/// Produces the content of a record; nil to empty the slot. May be called on any thread. Throws if the record could not
/// be decoded again.
package typealias RecordContent = @Sendable () throws(RecordError) -> [UInt8]?

/// The storage of records besides the bonds, one in each slot. Their content is up to its users.
package protocol RecordStorage: AnyObject {
    /// Loads the record that was last saved in a slot; nil if there is none. Must not be called while the slot is being
    /// changed.
    ///
    /// - Throws: ``RecordError`` if the record is incomplete, or was not written by this host. None of it may then be
    ///   used.
    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]?

    /// Replaces the record in a slot. The new one is durable when this returns. If this throws, either the old or the
    /// new record is stored, and never a part of one.
    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError)

    /// Empties a slot. That is durable when this returns.
    func remove(_ slot: RecordSlot) throws(RecordError)

    /// Changes a slot without blocking the event loop, if the storage has a thread for that. Call on the event loop.
    ///
    /// A slot has one change at a time. The next one has to wait for `completion`.
    ///
    /// - Parameters:
    ///   - content: Produces the new content.
    ///   - completion: Called once on the event loop, when the change is durable or has failed. Called from within this
    ///     call if the storage does not wait for anything.
    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    )

    /// Waits until all pending changes are durable or have failed. Returns whether they completed in time.
    func finish(within time: Duration) -> Bool
}

extension RecordStorage {
    /// Changes a slot at once.
    package func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    ) {
        completion(changeNow(slot, content))
    }

    /// Returns true, because no changes are ever pending.
    package func finish(within time: Duration) -> Bool { true }

    /// Changes a slot, and waits for that. Returns the error, if any.
    func changeNow(_ slot: RecordSlot, _ content: RecordContent) -> RecordError? {
        do throws(RecordError) {
            if let octets = try content() { try save(octets, in: slot) } else { try remove(slot) }
            return nil
        } catch {
            return error
        }
    }
}

package final class MemoryRecordStorage: RecordStorage {
    /// The content of each slot. Setting it simulates a damaged disk or a restored backup, does not count as a change,
    /// and never fails.
    package var contents: [RecordSlot: [UInt8]]
    /// An error for changes to throw, for instance to simulate a full disk.
    package var failure: RecordError?
    /// The number of times that a record was saved or removed.
    package private(set) var changes = 0

    package init(_ contents: [RecordSlot: [UInt8]] = [:]) {
        self.contents = contents
    }

    package func load(_ slot: RecordSlot) -> [UInt8]? { contents[slot] }

    /// Replaces the record in a slot, or throws ``failure``.
    package func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) {
        try change(slot, octets)
    }

    /// Empties a slot, or throws ``failure``.
    package func remove(_ slot: RecordSlot) throws(RecordError) {
        try change(slot, nil)
    }

    private func change(_ slot: RecordSlot, _ octets: [UInt8]?) throws(RecordError) {
        if let failure { throw failure }
        contents[slot] = octets
        changes += 1
    }
}
