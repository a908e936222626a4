import BluetoothTypes
import EventLoops
import Foundation
import HCIHost
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// The keeper of records alone, before a storage that the test has in hand.
@Suite struct RecordKeeperTests {
    /// Changes nothing until the test says so, and finishes as the test says.
    private final class SlowStorage: RecordStorage {
        typealias Change = (slot: RecordSlot, content: RecordContent, completion: (RecordError?) -> Void)

        let inner = MemoryRecordStorage()
        /// The results of the next calls of ``finish(within:)``. True once the list is empty.
        var finishes: [Bool] = []
        private(set) var finishTimes: [Duration] = []
        /// Whether ``finish(within:)`` completes no change: the loop is waiting for it.
        var blocksLoop = false
        private(set) var pending: [Change] = []
        private(set) var changed: [RecordSlot] = []

        func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? { inner.load(slot) }
        func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) { try inner.save(octets, in: slot) }
        func remove(_ slot: RecordSlot) throws(RecordError) { try inner.remove(slot) }

        func change(
            _ slot: RecordSlot,
            _ content: @escaping RecordContent,
            on loop: any EventLoop,
            completion: @escaping (RecordError?) -> Void
        ) {
            changed.append(slot)
            pending.append((slot, content, completion))
        }

        /// Performs the oldest change, or lets it fail.
        func end(_ failure: RecordError? = nil) {
            let change = pending.removeFirst()
            if failure == nil { write(change) }
            change.completion(failure)
        }

        private func write(_ change: Change) { inner.contents[change.slot] = (try? change.content()) ?? nil }

        func finish(within time: Duration) -> Bool {
            finishTimes.append(time)
            let isDone = finishes.isEmpty || finishes.removeFirst()
            while isDone, !pending.isEmpty { if blocksLoop { write(pending.removeFirst()) } else { end() } }
            return isDone
        }
    }

    private let loop = VirtualEventLoop()
    private let storage = SlowStorage()
    private let full = RecordError.unavailable(reason: "no space left on device")

    private final class Notes {
        var troubles: [String] = []
        var ended: [String] = []
    }

    private func make() -> (keeper: RecordKeeper, notes: Notes) {
        let (keeper, notes) = (RecordKeeper(loop: loop), Notes())
        keeper.onTrouble = { text, weight in notes.troubles.append("\(weight == .error ? "error" : "notice"): \(text)")
        }
        _ = keeper.open(storage)
        return (keeper, notes)
    }

    private func names(_ name: String) -> NameRecord {
        var names = NameRecord()
        names.set(name, of: .blank)
        return names
    }

    private let app = AppIdentity(name: "app")

    private func record(_ manager: String) -> AppRecord {
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: manager)
        let manager = ManagerRecord(role: .central, options: options, intent: Intent())
        return AppRecord(app: app, declaration: AppDeclaration(), managers: [manager])
    }

    private var kept: NameRecord? {
        storage.inner.contents[.names].flatMap { try? NameRecord(reading: PacketBuffer($0)) }
    }

    @Test(
        "behaviour 10.15: records that a disk does not save in time at the end are told, and nothing is changed after that"
    )
    func theEndIsTold() {
        for finishes in [[false], [true, false]] {
            let (keeper, notes) = make()
            keeper.keep(names("a"))
            storage.finishes = finishes
            keeper.finish()
            #expect(
                notes.troubles == [
                    "error: not all records were saved within 5.0 seconds: older versions remain; check the disk"
                ]
            )
            #expect(storage.finishTimes.suffix(finishes.count).allSatisfy { $0 == .seconds(5) })
            let changes = storage.changed.count
            keeper.keep(names("b"))
            keeper.keep(record("one"), of: app)
            keeper.finish()
            #expect(storage.changed.count == changes)
            #expect(notes.troubles.count == 1)
        }
    }

    @Test("behaviour 10.15: at the end the latest state of each record is written, and none that is written already")
    func theLatestIsWritten() {
        let (keeper, notes) = make()
        keeper.keep(names("a"))
        keeper.keep(names("b"))
        keeper.keep(PermissionRecord([app: AppDecision(.denied)]))
        storage.end()
        storage.end()
        // The names are being saved as they are; the permissions are durable.
        #expect(storage.changed == [.names, .permissions, .names])
        keeper.finish()
        #expect(storage.changed.count == 3)
        #expect(kept == names("b"))
        #expect(notes.troubles.isEmpty)
        // Completions run on the loop, which is waiting.
        storage.blocksLoop = true
        let (other, _) = make()
        other.keep(names("c"))
        other.keep(names("d"))
        other.finish()
        #expect(kept == names("d"))
        #expect(storage.changed.count == 5)
    }

    @Test(
        "behaviour 10.15: whoever waits for a record hears of it when the record is durable, or when saving it failed"
    )
    func waitersLearnWhenARecordIsDurable() {
        let (keeper, notes) = make()
        func keep(_ manager: String?, _ note: String) {
            keeper.keep(manager.map { record($0) }, of: app) { notes.ended.append(note) }
        }
        keep("one", "a")
        keep("one", "b")
        keep("two", "c")
        #expect(notes.ended.isEmpty)
        #expect(storage.pending.count == 1)
        storage.end()
        #expect(notes.ended == ["a", "b"])
        #expect(storage.pending.count == 1)
        storage.end(full)
        #expect(notes.ended == ["a", "b", "c"])
        #expect(notes.troubles.count == 1)
        // It failed: what is asked for now is tried at once, and not again by itself.
        keep("two", "d")
        #expect(storage.pending.count == 1)
        #expect(notes.ended.count == 3)
        storage.end()
        #expect(notes.ended.last == "d")
        keep("two", "e")
        #expect(notes.ended.last == "e")
        #expect(storage.pending.isEmpty)
        loop.run(for: .seconds(100))
        #expect(storage.pending.isEmpty)
        keep(nil, "f")
        storage.end()
        keep(nil, "g")
        #expect(notes.ended.suffix(2) == ["f", "g"])
        #expect(storage.pending.isEmpty)
    }

    @Test("behaviour 10.15: what was to be saved and is again as it was is not saved once more")
    func backToWhatItWas() {
        let (keeper, notes) = make()
        keeper.keep(record("one"), of: app) { notes.ended.append("a") }
        keeper.keep(record("two"), of: app) { notes.ended.append("b") }
        keeper.keep(record("one"), of: app) { notes.ended.append("c") }
        storage.end()
        #expect(storage.changed == [.app(0)])
        #expect(storage.pending.isEmpty)
        #expect(notes.ended == ["a", "c", "b"])
    }

    @Test("a save that takes longer than a second is told once, and a save that fails is tried again after 30 s")
    func slowAndFailed() {
        let (keeper, notes) = make()
        keeper.keep(names("a"))
        loop.run(for: .milliseconds(999))
        #expect(notes.troubles.isEmpty)
        loop.run(for: .milliseconds(1))
        #expect(notes.troubles.count == 1 && notes.troubles[0].contains("is taking longer than 1.0 seconds"))
        storage.end(full)
        #expect(notes.troubles.count == 2 && notes.troubles[1].contains("no space left"))
        loop.run(for: .milliseconds(29_999))
        #expect(storage.pending.isEmpty)
        loop.run(for: .milliseconds(1))
        #expect(storage.pending.count == 1)
        storage.end(full)
        #expect(notes.troubles.count == 2)
        loop.run(for: .seconds(30))
        storage.end()
        #expect(notes.troubles.count == 3 && notes.troubles[2].hasPrefix("notice: ") && kept == names("a"))
        loop.run(for: .seconds(100))
        #expect(storage.pending.isEmpty)
        #expect(notes.troubles.count == 3)
    }

    @Test("a save that was slow is reported as saved; one that was slow after a failure is reported as saved again")
    func slowIsNotFailed() {
        let (keeper, notes) = make()
        keeper.keep(names("a"))
        loop.run(for: .seconds(2))
        storage.end()
        #expect(notes.troubles.count == 2 && notes.troubles[1].hasSuffix("has been saved"))
        keeper.keep(names("b"))
        storage.end(full)
        loop.run(for: .seconds(30))
        // The retry is slow too.
        loop.run(for: .seconds(2))
        storage.end()
        #expect(notes.troubles.count == 5 && notes.troubles[4].hasSuffix("has been saved again"))
    }

    @Test("a keeper reads a storage once, and what cannot be read is told and its slot taken last")
    func damagedRecords() {
        storage.inner.contents[.app(0)] = [1, 2, 3]
        storage.inner.contents[.app(1)] = record("one").encoded().bytes
        storage.inner.contents[.app(2)] = record("two").encoded().bytes
        storage.inner.contents[.names] = [9, 9]
        let keeper = RecordKeeper(loop: loop)
        var troubles: [String] = []
        keeper.onTrouble = { text, _ in troubles.append(text) }
        let found = keeper.open(storage)
        #expect(found?.apps == [record("one")])
        #expect(found?.names == NameRecord())
        #expect(troubles.count == 3)
        #expect(keeper.open(storage) == nil)
        #expect(keeper.recordedApps == [app])
        let other = AppIdentity(name: "other")
        keeper.keep(AppRecord(app: other, declaration: AppDeclaration(), managers: []), of: other)
        #expect(storage.changed == [.app(3)])
    }
}
