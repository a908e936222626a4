import EventLoops

/// What has a place of its own beside the bonds, so that nobody has to look for it.
package enum RecordSlot: Hashable, Sendable {
    /// Places for apps.
    package static let apps = 64

    /// One of the places for what is kept of an app, `0..<apps`.
    case app(Int)
    /// What the person has said of apps.
    case permissions
    /// What peers are called.
    case names
    /// What was found at peers that are not bonded.
    case tables
    /// What controllers turned out not to be trusted with.
    case controllers

    /// What its file is called.
    package var name: String {
        switch self {
        case .app(let number): number < 10 ? "app-0\(number)" : "app-\(number)"
        case .permissions: "permissions"
        case .names: "names"
        case .tables: "tables"
        case .controllers: "controllers"
        }
    }
}

/// Makes the octets of a record; nil for a slot that is to be empty. It may be called on any thread, and throws for a record that could not be
/// read again.
package typealias RecordContent = @Sendable () throws(RecordError) -> [UInt8]?

/// Where something is kept besides bonds; what it is, is for others to say. One record in one slot.
package protocol RecordStorage: AnyObject {
    /// What was saved last in a slot; nil when nothing was. Not while the slot is being changed.
    ///
    /// - Throws: when it cannot be had whole and as this host wrote it. Then nothing of it is to be used.
    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]?

    /// Keeps octets in place of what was there. They are durable when this returns, and when it throws, the old ones or the new ones
    /// are kept, and never a part.
    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError)

    /// Keeps nothing in a slot. That is durable when this returns.
    func remove(_ slot: RecordSlot) throws(RecordError)

    /// Changes a slot without blocking the loop, where the storage has a thread for that. On the loop only.
    ///
    /// A slot has one change at a time: the next one has to wait for `completion`.
    ///
    /// - Parameters:
    ///   - content: What the slot is to have.
    ///   - completion: Called once on the loop, when the change is durable or has failed; within this call where the storage does not wait for
    ///     anything.
    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    )

    /// Waits until the changes under way are durable or have failed.
    ///
    /// - Returns: Whether that was so in time.
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

    /// Nothing is ever under way.
    package func finish(within time: Duration) -> Bool { true }

    /// Changes a slot, and waits for that. Returns why it could not.
    func changeNow(_ slot: RecordSlot, _ content: RecordContent) -> RecordError? {
        do throws(RecordError) {
            if let octets = try content() { try save(octets, in: slot) } else { try remove(slot) }
            return nil
        } catch {
            return error
        }
    }
}

/// Records that last as long as this object.
package final class MemoryRecordStorage: RecordStorage {
    /// What was saved, as it would stand in files.
    package var contents: [RecordSlot: [UInt8]]
    /// Thrown in place of saving and removing, to see what becomes of a full disk.
    package var failure: RecordError?
    /// How often something was saved or removed.
    package private(set) var changes = 0

    /// Nothing is kept, or `contents`.
    package init(_ contents: [RecordSlot: [UInt8]] = [:]) {
        self.contents = contents
    }

    /// What was saved last in a slot.
    package func load(_ slot: RecordSlot) -> [UInt8]? { contents[slot] }

    /// Keeps octets.
    package func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) {
        try change(slot, octets)
    }

    /// Keeps nothing.
    package func remove(_ slot: RecordSlot) throws(RecordError) {
        try change(slot, nil)
    }

    private func change(_ slot: RecordSlot, _ octets: [UInt8]?) throws(RecordError) {
        if let failure { throw failure }
        contents[slot] = octets
        changes += 1
    }
}
