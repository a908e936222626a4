import BondKillPoints
import Dispatch
import EventLoops
import Foundation
import Synchronization
import Testing

@testable import Security

/// An identifier of the calling thread.
private func currentThread() -> UInt { UInt(pthread_self()) }

/// A directory on disk whose writes are held until released.
private final class HeldDirectory: BondDirectory, Sendable {
    let inner: PosixBondDirectory
    private let isHeld = Mutex(false)
    private let leave = DispatchSemaphore(value: 0)
    private let writers = Mutex<Set<UInt>>([])

    init(_ path: String) throws {
        inner = try PosixBondDirectory(path)
    }

    /// The threads that have written.
    var threads: Set<UInt> { writers.withLock { $0 } }

    /// Waits until a thread other than this one has started to write.
    func waitForWriter() {
        while threads.subtracting([currentThread()]).isEmpty { sched_yield() }
    }

    func hold() { isHeld.withLock { $0 = true } }

    /// Lets writes from now on proceed.
    func endHold() { isHeld.withLock { $0 = false } }

    /// Lets the held write proceed too.
    func release() {
        endHold()
        leave.signal()
    }

    var path: String { inner.path }
    var user: UInt32 { inner.user }

    func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)? { try inner.open(name) }
    func create(_ name: String) throws(SystemError) -> Int32 { try inner.create(name) }
    func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8] { try inner.read(file, atMost: count) }

    func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
        let waits = isHeld.withLock { $0 }
        writers.withLock { _ = $0.insert(currentThread()) }
        if waits { leave.wait() }
        return try inner.write(octets, to: file)
    }

    func synchronize(_ file: Int32) throws(SystemError) { try inner.synchronize(file) }
    func close(_ file: Int32) { inner.close(file) }
    func rename(_ name: String, to other: String) throws(SystemError) { try inner.rename(name, to: other) }
    func link(_ name: String, as other: String) throws(SystemError) { try inner.link(name, as: other) }
    func remove(_ name: String) throws(SystemError) { try inner.remove(name) }
    func synchronize() throws(SystemError) { try inner.synchronize() }
}

/// Records that are written on a separate thread.
@Suite struct DiskWriterTests {
    private let scratch: TestDirectory
    private let directory: HeldDirectory
    private let storage: FileBondStorage
    private let loop = VirtualEventLoop()

    init() throws {
        scratch = try TestDirectory()
        directory = try HeldDirectory(scratch.path)
        storage = FileBondStorage(changing: directory, random: RandomSource())
        // The first use creates the secret.
        _ = try storage.derive("anything")
    }

    private var records: any RecordStorage { storage.records }

    private final class Ends {
        var ended: [(RecordSlot, RecordError?)] = []
    }

    private func change(_ slot: RecordSlot, _ octets: [UInt8]?, _ ends: Ends) {
        records.change(slot, { () throws(RecordError) in octets }, on: loop) { ends.ended.append((slot, $0)) }
    }

    @Test("AB-G05: the loop does not wait for a record, and is notified once it is durable")
    func theLoopDoesNotWait() throws {
        let ends = Ends()
        directory.hold()
        change(.app(1), [1, 2, 3], ends)
        change(.names, [4], ends)
        loop.run(for: .seconds(1))
        #expect(ends.ended.isEmpty)
        #expect(!records.finish(within: .milliseconds(1)))
        // Loading would remove the file that is being written.
        #expect(!FileManager.default.fileExists(atPath: scratch.file("app-01")))
        directory.release()
        #expect(records.finish(within: .seconds(60)))
        // The completion runs in a separate task of the loop.
        #expect(ends.ended.isEmpty)
        loop.run(for: .zero)
        #expect(ends.ended.map(\.0) == [.app(1), .names])
        #expect(ends.ended.allSatisfy { $0.1 == nil })
        #expect(try records.load(.app(1)) == [1, 2, 3] && records.load(.names) == [4])
        #expect(!directory.threads.subtracting([currentThread()]).isEmpty)
    }

    @Test("AB-G05: the record is encoded on the other thread, and one that cannot be encoded changes nothing")
    func theRecordIsEncodedElsewhere() throws {
        let ends = Ends()
        change(.app(1), [1], ends)
        let refusal = RecordError.unavailable(reason: "no")
        _ = records.finish(within: .seconds(60))
        let encoder = EncoderThread()
        records.change(
            .app(1),
            { () throws(RecordError) in
                encoder.note()
                throw refusal
            },
            on: loop
        ) { ends.ended.append((.app(1), $0)) }
        #expect(records.finish(within: .seconds(60)))
        loop.run(for: .zero)
        #expect(ends.ended.map(\.1) == [nil, refusal])
        #expect(encoder.number != currentThread())
        #expect(try records.load(.app(1)) == [1])
    }

    private final class EncoderThread: Sendable {
        private let thread = Mutex<UInt>(0)
        var number: UInt { thread.withLock { $0 } }
        func note() { thread.withLock { $0 = currentThread() } }
    }

    @Test("a slot can be emptied, and a record that is too large leaves it unchanged")
    func aSlotIsEmptied() throws {
        let ends = Ends()
        change(.app(1), [1], ends)
        change(.app(2), [2], ends)
        _ = records.finish(within: .seconds(60))
        change(.app(1), nil, ends)
        change(.app(2), [UInt8](repeating: 2, count: FileRecordStorage.maximumSize), ends)
        #expect(records.finish(within: .seconds(60)))
        loop.run(for: .zero)
        #expect(try records.load(.app(1)) == nil && records.load(.app(2)) == [2])
        let tooLarge = RecordError.tooLarge(place: scratch.file("app-02"), limit: FileRecordStorage.maximumSize)
        #expect(ends.ended.map(\.1) == [nil, nil, nil, tooLarge])
    }

    @Test(
        "AB-G06: removing the secret fails the save that detects it, and the next one creates a new secret"
    )
    func aSecretThatIsRemoved() throws {
        let ends = Ends()
        change(.app(1), [1], ends)
        _ = records.finish(within: .seconds(60))
        try FileManager.default.removeItem(atPath: scratch.file("secret"))
        for _ in 0..<2 {
            change(.app(1), [2], ends)
            _ = records.finish(within: .seconds(60))
            loop.run(for: .zero)
        }
        #expect(ends.ended.map { $0.1 == nil } == [true, false, true])
        #expect(try records.load(.app(1)) == [2])
    }

    @Test(
        "AB-G05: data that a peer can send again is visible at once, and only its latest state is saved, on the other thread"
    )
    func onlyTheLatestRepeatableStateIsSaved() throws {
        let store = try BondStore(
            storage: storage,
            adapter: Samples.adapter,
            random: RandomSource(seed: 1),
            loop: loop
        )
        let bond = try store.add(Samples.bond(1))
        directory.hold()
        for name in ["a", "b", "c"] { store.note(bond.identifier) { $0.name = name } }
        #expect(store.bonds.map(\.name) == ["c"])
        #expect(
            try FileBondStorage.inspect(into: scratch.path)?.bonds == [bond]
                && !records.finish(within: .milliseconds(1))
        )
        directory.release()
        // The save that was in progress, and then the latest one.
        for name in ["a", "c"] {
            #expect(records.finish(within: .seconds(60)))
            #expect(try FileBondStorage.inspect(into: scratch.path)?.bonds.map(\.name) == [name])
            loop.run(for: .zero)
        }
        // This method does not change identities and keys.
        store.note(bond.identifier) { $0.address = Samples.bond(2).address }
        #expect(store.bonds.first?.address == bond.address)
    }

    @Test("a saved bond is not overwritten by an older state that waited for the disk")
    func anOlderStateDoesNotWin() throws {
        let store = try BondStore(
            storage: storage,
            adapter: Samples.adapter,
            random: RandomSource(seed: 1),
            loop: loop
        )
        let bond = try store.add(Samples.bond(1))
        // Another file is being written, and the bonds follow it.
        let ends = Ends()
        directory.hold()
        change(.app(1), [1], ends)
        store.note(bond.identifier) { $0.name = "new" }
        store.note(bond.identifier) { $0.name = "newer" }
        directory.waitForWriter()
        directory.endHold()
        let other = try store.add(Samples.bond(2))
        let stood = try FileBondStorage.inspect(into: scratch.path)?.bonds
        #expect(stood?.map(\.name) == ["newer", other.name])
        #expect(ends.ended.isEmpty)
        directory.release()
        for _ in 0..<3 {
            #expect(records.finish(within: .seconds(60)))
            loop.run(for: .zero)
        }
        #expect(try FileBondStorage.inspect(into: scratch.path)?.bonds == stood && ends.ended.count == 1)
    }

    /// Waits until all changes are on the disk. A change that comes while another is written begins when the loop has
    /// heard of that one's end.
    private func settle() {
        for _ in 0..<3 {
            #expect(records.finish(within: .seconds(60)))
            loop.run(for: .zero)
        }
    }

    @Test("pending data is durable when the store is released, and a failure is reported")
    func aStoreThatIsLetGoOf() throws {
        let store = try BondStore(
            storage: storage,
            adapter: Samples.adapter,
            random: RandomSource(seed: 1),
            loop: loop
        )
        let bond = try store.add(Samples.bond(1))
        store.note(bond.identifier) { $0.name = "one" }
        store.note(bond.identifier) { $0.name = "two" }
        store.flush()
        #expect(try FileBondStorage.inspect(into: scratch.path)?.bonds.map(\.name) == ["two"])
        settle()
        #expect(try FileBondStorage.inspect(into: scratch.path)?.bonds.map(\.name) == ["two"])
        var failures: [BondError] = []
        store.onFailure = { failures.append($0) }
        // A directory cannot be overwritten.
        try FileManager.default.removeItem(atPath: scratch.file("bonds"))
        try FileManager.default.createDirectory(atPath: scratch.file("bonds"), withIntermediateDirectories: false)
        store.note(bond.identifier) { $0.name = "three" }
        settle()
        #expect(failures.count == 1)
        #expect(store.bonds.map(\.name) == ["three"])
    }

    @Test("bonds are saved while a record waits for the disk")
    func bondsAreSavedMeanwhile() throws {
        let ends = Ends()
        let store = try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
        directory.hold()
        change(.app(1), [1], ends)
        directory.waitForWriter()
        directory.endHold()
        let bond = try store.add(Samples.bond(1))
        #expect(ends.ended.isEmpty)
        #expect(!records.finish(within: .milliseconds(1)))
        directory.release()
        #expect(records.finish(within: .seconds(60)))
        #expect(try FileBondStorage.inspect(into: scratch.path)?.bonds == [bond] && records.load(.app(1)) == [1])
    }
}
