import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import Foundation
import SMP
import TestBasics
import Testing

@testable import Security

/// A directory that reports files shorter than they are, as if they had grown since, and reads one octet at a time.
private final class GrowingDirectory: BondDirectory {
    private let base: any BondDirectory
    private let growth: Int
    /// The number of octets read from the last file.
    private(set) var octetsRead = 0

    init(_ base: any BondDirectory, growth: Int) {
        self.base = base
        self.growth = growth
    }

    var path: String { base.path }
    var user: UInt32 { base.user }

    func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)? {
        octetsRead = 0
        guard var opened = try base.open(name) else { return nil }
        if name == "bonds" { opened.status.size -= growth }
        return opened
    }

    func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8] {
        let octets = try base.read(file, atMost: min(count, 1))
        octetsRead += octets.count
        return octets
    }

    func create(_ name: String) throws(SystemError) -> Int32 { try base.create(name) }
    func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
        try base.write(octets, to: file)
    }
    func synchronize(_ file: Int32) throws(SystemError) { try base.synchronize(file) }
    func close(_ file: Int32) { base.close(file) }
    func rename(_ name: String, to other: String) throws(SystemError) { try base.rename(name, to: other) }
    func link(_ name: String, as other: String) throws(SystemError) { try base.link(name, as: other) }
    func remove(_ name: String) throws(SystemError) { try base.remove(name) }
    func synchronize() throws(SystemError) { try base.synchronize() }
}

/// Content on disk in place of a store that is no valid store.
@Suite struct BondDiskBoundsTests {
    private let directory: TestDirectory
    private let files = FileManager.default

    init() throws {
        directory = try TestDirectory()
    }

    private func write(_ octets: Data, to name: String) throws {
        try? files.removeItem(atPath: directory.file(name))
        let rights = [FileAttributeKey.posixPermissions: 0o600]
        try #require(files.createFile(atPath: directory.file(name), contents: octets, attributes: rights))
    }

    private func store() throws -> BondStore {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        return try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
    }

    private func refusal() -> BondError? {
        do {
            _ = try store()
            return nil
        } catch {
            return error as? BondError
        }
    }

    /// Damaged files cannot be used to fill the disk.
    @Test("AB-G06: up to nine damaged files of bonds are kept")
    func nineDamagedFilesAreKeptAndNoMore() throws {
        _ = try store()
        for number in 1...11 as ClosedRange<UInt8> {
            try write(Data([number]), to: "bonds")
            let backup = number < 10 ? directory.file("bonds.damaged-\(number)") : nil
            let damage = BondError.damaged(
                place: directory.file("bonds"),
                reason: "it is not a file of bonds",
                backup: backup
            )
            #expect(refusal() == damage)
        }
        for number in 1...9 as ClosedRange<UInt8> {
            #expect(files.contents(atPath: directory.file("bonds.damaged-\(number)")) == Data([number]))
        }
        #expect(files.contents(atPath: directory.file("bonds")) == Data([11]))
    }

    /// Reads the reported number of octets and one more.
    @Test("AB-G06: a file of bonds that grows is not read to its end", arguments: [0, 1, 2, 100])
    func aFileThatGrowsIsNotReadToItsEnd(growth: Int) throws {
        let bond = try store().add(Samples.fullBond(7))
        let size = try #require(files.contents(atPath: directory.file("bonds"))).count
        let growing = GrowingDirectory(try PosixBondDirectory(directory.path), growth: growth)
        let storage = FileBondStorage(directory: growing, random: RandomSource())
        let state = Result { try storage.load() }
        #expect(growing.octetsRead == min(size, size - growth + 1))
        switch state {
        case .success(let state): #expect(growth <= 1 && state?.bonds == [bond])
        case .failure(let error):
            let isDamaged = if case .damaged? = error as? BondError { true } else { false }
            #expect(growth > 1)
            #expect(isDamaged)
        }
    }

    @Test(
        "AB-G06: the secret of a host has 64 octets, or is damaged",
        arguments: [(63, "it has 63 octets"), (64, nil), (65, "it is longer than 64 octets")] as [(Int, String?)]
    )
    func aSecretHas64Octets(count: Int, reason: String?) throws {
        _ = try store()
        try files.removeItem(atPath: directory.file("bonds"))
        try write(Data(repeating: 1, count: count), to: "secret")
        let place = directory.file("secret")
        #expect(refusal() == reason.map { .damaged(place: place, reason: $0, backup: nil) })
    }

    /// A file beyond the maximum length is refused before it is read, and gets no backup.
    @Test("AB-G06: a file of bonds that is too long is refused unread")
    func aFileOfBondsIsRefusedUnreadWhenItIsTooLong() throws {
        _ = try store()
        let place = directory.file("bonds")
        let handle = try #require(FileHandle(forWritingAtPath: place))
        try handle.truncate(atOffset: 16_777_217)
        let reason = "it is longer than 16777216 octets"
        #expect(refusal() == .damaged(place: place, reason: reason, backup: nil))
        try handle.truncate(atOffset: 16_777_216)
        guard case .damaged(place, _, directory.file("bonds.damaged-1")) = refusal() else {
            return recordIssue("\(String(describing: refusal()))")
        }
    }

    @Test func aFileInPlaceOfTheDirectoryIsNoDirectory() throws {
        try Data([1]).write(to: URL(fileURLWithPath: directory.path))
        for path in [directory.path, directory.path + "/below"] {
            do throws(BondError) {
                _ = try PosixBondDirectory(path)
                Issue.record("it was opened")
            } catch {
                guard case .system(path, _, "Not a directory") = error else { return recordIssue("\(error)") }
            }
        }
    }

    /// A trailing slash is removed, unless it is the whole path.
    @Test func aPathIsNamedWithoutTheSlashAtItsEnd() throws {
        #expect(try PosixBondDirectory(directory.path + "/").path == directory.path)
        do {
            #expect(try PosixBondDirectory("/", isToChange: false).path == "/")
        } catch {
            // Other users may enter it.
            guard case .exposed("/", _) = error else { return recordIssue("\(error)") }
        }
    }
}

/// The identity of a device without a public address.
@Suite struct StaticAddressTests {
    /// Storage with a known secret.
    private final class OpenStorage: BondStorage {
        let records: any RecordStorage = MemoryRecordStorage()
        let octets: [UInt8]
        private(set) var purposes: [String] = []
        private(set) var state: StoredBonds?

        init(_ octets: [UInt8]) { self.octets = octets }

        var place: String { "test" }
        func load() -> StoredBonds? { state }
        func save(_ state: StoredBonds) { self.state = state }
        func derive(_ purpose: String) -> [UInt8]? {
            purposes.append(purpose)
            return octets
        }
    }

    /// Two bits mark the address as static; the others are neither all set nor all clear (Core Vol 6 Part B 1.3.2.1).
    /// The number consists of the first eight octets, least significant first.
    @Test(
        "AB-G06: the static address of an adapter follows from the secret",
        arguments: [
            (0, 1), (1, 2), (0x3FFF_FFFF_FFFD, 0x3FFF_FFFF_FFFE), (0x3FFF_FFFF_FFFE, 1), (0x3FFF_FFFF_FFFF, 2),
            (1 << 46, 3), (1 << 56, 0x801), (.max, 0x8_0000),
        ] as [(UInt64, UInt64)]
    )
    func theStaticAddressFollowsFromTheSecret(number: UInt64, part: UInt64) throws {
        let octets = stride(from: UInt64(0), to: 64, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
        let storage = OpenStorage(octets + [UInt8](repeating: 0xA5, count: 24))
        let adapter = AdapterIdentity(address: .none, place: "usb 1")
        let store = try BondStore(storage: storage, adapter: adapter, random: RandomSource(seed: 1))
        #expect(store.identity.address == BluetoothAddress(0xC000_0000_0000 | part, kind: .randomDevice))
        #expect(storage.purposes == ["static address at usb 1"])
    }

    /// A key of zero counts as no key (AB-S11), so the last bit is set; the others come from the random source.
    @Test("AB-S11: the host's own resolving key is never zero", arguments: 1...32 as ClosedRange<UInt64>)
    func theOwnKeyIsNeverZero(seed: UInt64) throws {
        let store = try BondStore(
            storage: MemoryBondStorage(),
            adapter: Samples.adapter,
            random: RandomSource(seed: seed)
        )
        let drawn = RandomSource(seed: seed)
        let (high, low) = (drawn.next(), drawn.next())
        #expect(store.identity.key.block.high == high)
        #expect(store.identity.key.block.low == low | 1)
        #expect(store.identity.address == Samples.adapter.address)
    }
}
