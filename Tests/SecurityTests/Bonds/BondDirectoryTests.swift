import BluetoothTypes
import BondKillPoints
import EventLoops
import Foundation
import TestBasics
import Testing

@testable import Security

/// Open files, leftovers and error messages when a directory or a file is not as required.
@Suite struct BondDirectoryTests {
    private let directory: TestDirectory
    private let files = FileManager.default
    private let own = [FileAttributeKey.posixPermissions: 0o600]

    init() throws {
        directory = try TestDirectory()
    }

    private func open() throws -> BondStore {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        return try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
    }

    private func refusal() -> BondError? {
        do {
            _ = try open()
            return nil
        } catch {
            return error as? BondError
        }
    }

    /// The files of the directory that this process has open, by name: "" is the directory itself, and ".." its parent.
    private func openFiles() throws -> [String] {
        let names = ["", ".."] + ((try? files.contentsOfDirectory(atPath: directory.path)) ?? [])
        return try names.flatMap { name in
            Array(repeating: name, count: try OpenDescriptors.count(of: directory.file(name)))
        }.sorted()
    }

    /// A process that opens stores for years does not accumulate open files.
    @Test func onlyTheDirectoryAndItsLockStayOpen() throws {
        do {
            let store = try open()
            let bond = try store.add(Samples.bond(1))
            try store.update(bond.identifier) { $0.isLost = true }
            #expect(try openFiles() == ["", "lock"])
            #expect(refusal() == .inUse(place: directory.path))
            #expect(try openFiles() == ["", "lock"])
            _ = try FileBondStorage.inspect(into: directory.path)
            #expect(try openFiles() == ["", "lock"])
        }
        #expect(try openFiles().isEmpty)
        // Refused because of the lock, the directory's permissions, and a damaged file that already has one backup.
        try files.moveItem(atPath: directory.file("lock"), toPath: directory.file("elsewhere"))
        try files.createSymbolicLink(atPath: directory.file("lock"), withDestinationPath: directory.file("elsewhere"))
        #expect(refusal() == .exposed(place: directory.file("lock"), .symbolicLink))
        try files.removeItem(atPath: directory.file("lock"))
        try files.setAttributes([.posixPermissions: 0o701], ofItemAtPath: directory.path)
        #expect(refusal() == .exposed(place: directory.path, .permissions(0o701)))
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
        for _ in 0..<2 {
            try #require(files.createFile(atPath: directory.file("bonds"), contents: Data([1]), attributes: own))
            #expect(refusal() != nil)
        }
        #expect(try openFiles().isEmpty)
    }

    @Test("AB-G06: only the user can access the lock file of the bonds")
    func theLockIsForTheUserAlone() throws {
        _ = try open()
        let attributes = try files.attributesOfItem(atPath: directory.file("lock"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    /// A path of two characters loses its trailing slash like any other.
    @Test func aShortPathIsNamedWithoutTheSlashAtItsEnd() {
        do {
            #expect(try PosixBondDirectory("./", isToChange: false).path == ".")
        } catch {
            #expect(error == BondError.exposed(place: ".", .permissions(0)) || "\(error)".hasPrefix(". "), "\(error)")
        }
    }

    /// A directory with the name of a leftover file is not the store's to remove.
    @Test("AB-G06: a directory in place of a new file is refused", arguments: ["bonds.new", "secret.new"])
    func aDirectoryInPlaceOfANewFileIsRefused(name: String) throws {
        _ = try open()
        try files.createDirectory(atPath: directory.file(name), withIntermediateDirectories: false)
        guard case .system(directory.file(name), "removed", _) = refusal() else {
            return recordIssue("\(String(describing: refusal()))")
        }
        #expect(files.fileExists(atPath: directory.file(name)))
    }

    /// The new file cannot be renamed, and is removed.
    @Test func aFileThatCannotBeReplacedLeavesNothingBeside() throws {
        let store = try open()
        try files.removeItem(atPath: directory.file("bonds"))
        try files.createDirectory(atPath: directory.file("bonds"), withIntermediateDirectories: false)
        do throws(BondError) {
            _ = try store.add(Samples.bond(1))
            Issue.record("it was kept")
        } catch {
            guard case .system(directory.file("bonds"), "replaced", _) = error else { return recordIssue("\(error)") }
        }
        #expect(store.bonds.isEmpty)
        #expect(!files.fileExists(atPath: directory.file("bonds.new")))
    }

    /// One octet beyond 16 MiB is too large.
    @Test("AB-S14: a store of bonds that is too large is not written")
    func aStoreThatIsTooLargeIsNotWritten() throws {
        let storage = FileBondStorage(directory: ModelDirectory([:]), random: RandomSource(seed: 1))
        var state = BondFormatTests.states[0]
        try storage.save(state)
        let size = BondFile.encode(state, BondFormatTests.secret).count
        state.adapter.place += String(repeating: "a", count: 16_777_217 - size)
        #expect(throws: BondError.tooLarge(place: "model/bonds")) { try storage.save(state) }
        #expect(try storage.load() == BondFormatTests.states[0])
    }

    // MARK: Backups

    private static let damaged: [UInt8] = [1, 2, 3]

    private static func load(_ directory: ModelDirectory) -> BondError? {
        do throws(BondError) {
            _ = try FileBondStorage(directory: directory, random: RandomSource(seed: 1)).load()
            return nil
        } catch {
            return error
        }
    }

    /// Whatever fails, each backup that an error names is complete, and survives a power failure.
    @Test(
        "AB-G06: a backup named in an error exists",
        arguments: [[:], ["bonds.damaged-1": [9]], ["bonds.damaged-1": damaged]] as [[String: [UInt8]]]
    )
    func aBackupThatIsNamedIsOne(others: [String: [UInt8]]) {
        let contents = others.merging(["bonds": Self.damaged]) { $1 }
        var named = 0
        for lossAt in 0... {
            let directory = ModelDirectory(contents, lossAt: lossAt)
            if case .damaged("model/bonds", _, let backup?) = Self.load(directory) {
                named += 1
                let name = String(backup.dropFirst("model/".count))
                #expect(directory.contents[name] == Self.damaged, "failing at \(lossAt)")
                #expect(directory.outcomes.allSatisfy { $0[name] == Self.damaged }, "failing at \(lossAt)")
            }
            if !directory.isDead { break }
        }
        #expect(named > 0)
    }
}
