import BluetoothTypes
import BondKillPoints
import EventLoops
import Foundation
import Testing

@testable import Security

/// Records in files next to the bonds.
@Suite struct RecordStorageTests {
    private let directory: TestDirectory
    private let files = FileManager.default
    private let octets = Array("what is kept of an app".utf8)
    private let slot = RecordSlot.app(7)

    init() throws {
        directory = try TestDirectory()
    }

    private func open() throws -> any RecordStorage {
        try FileBondStorage(directory: directory.path, random: RandomSource()).records
    }

    /// Saves a record in a directory, and closes it.
    private func make() throws {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        try storage.records.save(octets, in: slot)
    }

    private func refusal() throws -> RecordError? {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        do throws(RecordError) {
            _ = try storage.records.load(slot)
            return nil
        } catch {
            return error
        }
    }

    private func write(_ content: [UInt8], to name: String) throws {
        try? files.removeItem(atPath: directory.file(name))
        let rights = [FileAttributeKey.posixPermissions: 0o600]
        try #require(files.createFile(atPath: directory.file(name), contents: Data(content), attributes: rights))
    }

    private func content(of name: String) throws -> [UInt8] {
        Array(try #require(files.contents(atPath: directory.file(name))))
    }

    private var names: Set<String> {
        Set((try? files.contentsOfDirectory(atPath: directory.path)) ?? [])
    }

    @Test func aRecordIsThereAfterARestartAndForTheUserAlone() throws {
        try make()
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        #expect(try storage.records.load(slot) == octets)
        #expect(try storage.records.load(.app(8)) == nil && storage.records.load(.permissions) == nil)
        let rights = try files.attributesOfItem(atPath: directory.file("app-07"))[.posixPermissions] as? Int
        #expect(rights == 0o600)
        #expect(names == ["app-07", "lock", "secret"])
        try storage.records.remove(slot)
        #expect(try storage.records.load(slot) == nil && names == ["lock", "secret"])
        try storage.records.remove(slot)
    }

    @Test func bondsAndRecordsLieSideBySide() throws {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        try storage.records.save(octets, in: .permissions)
        let store = try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
        let bond = try store.add(Samples.bond(1))
        try storage.records.save(octets + octets, in: slot)
        #expect(try storage.records.load(.permissions) == octets && storage.records.load(slot) == octets + octets)
        #expect(try storage.load()?.bonds == [bond])
    }

    @Test("AB-G06: a record that other users may access is not used", arguments: [0o640, 0o604, 0o620, 0o601])
    func aRecordThatOthersMayUseIsNotUsed(mode: Int) throws {
        try make()
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.file("app-07"))
        #expect(try refusal() == .exposed(place: directory.file("app-07"), .permissions(UInt32(mode))))
        // The next save replaces the file.
        try make()
        #expect(try refusal() == nil)
    }

    @Test(
        "AB-G06: a link or a pipe in place of a record is not used, and the next save replaces it",
        arguments: [true, false]
    )
    func aLinkOrAPipeInPlaceOfARecord(isLink: Bool) throws {
        try make()
        let elsewhere = directory.file("elsewhere")
        try files.moveItem(atPath: directory.file("app-07"), toPath: elsewhere)
        if isLink {
            try files.createSymbolicLink(atPath: directory.file("app-07"), withDestinationPath: elsewhere)
        } else {
            try #require(mkfifo(directory.file("app-07"), 0o600) == 0)
        }
        #expect(try refusal() == .exposed(place: directory.file("app-07"), isLink ? .symbolicLink : .wrongKind))
        let before = try content(of: "elsewhere")
        try make()
        #expect(try refusal() == nil && content(of: "elsewhere") == before)
    }

    @Test("AB-G06: a record with any octet changed, or truncated anywhere, is not used")
    func aDamagedRecordIsNotUsed() throws {
        try make()
        let whole = try content(of: "app-07")
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x10
            try write(changed, to: "app-07")
            #expect(try refusal() != nil, "octet \(index)")
            try write(Array(whole.prefix(index)), to: "app-07")
            #expect(try refusal() != nil, "cut at \(index)")
        }
        try write(whole + [0], to: "app-07")
        #expect(try refusal() != nil)
        try write(whole, to: "app-07")
        #expect(try refusal() == nil)
    }

    @Test("AB-G06: only the first damaged record of a slot is kept")
    func theFirstDamagedRecordIsKept() throws {
        try make()
        let place = directory.file("app-07")
        let reason = "it is not a file of records"
        for number in UInt8(1)...3 {
            try write([number], to: "app-07")
            let backup = number == 1 ? place + ".damaged-1" : nil
            #expect(try refusal() == .damaged(place: place, reason: reason, backup: backup))
        }
        #expect(try content(of: "app-07.damaged-1") == [1] && !names.contains("app-07.damaged-2"))
    }

    @Test("AB-G06: a record of another slot, of bonds, of another host, or without its secret is not used")
    func aRecordFromElsewhereIsNotUsed() throws {
        try make()
        let whole = try content(of: "app-07")
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        for other in [RecordSlot.app(8), .permissions, .names, .tables, .controllers, .accessories] {
            try write(whole, to: other.name)
            #expect(throws: RecordError.self, "\(other)") { try storage.records.load(other) }
        }
        try write(whole, to: "bonds")
        #expect(throws: BondError.self) { try storage.load() }
        let elsewhere = try TestDirectory()
        let theirs = try FileBondStorage(directory: elsewhere.path, random: RandomSource())
        try theirs.records.save(octets, in: slot)
        let planted = try #require(files.contents(atPath: elsewhere.file("app-07")))
        try write(Array(planted), to: "app-07")
        let foreign = RecordError.foreign(place: directory.file("app-07"))
        #expect(throws: foreign) { try storage.records.load(slot) }
        try write(whole, to: "app-07")
        #expect(try storage.records.load(slot) == octets)
        try files.removeItem(atPath: directory.file("secret"))
        #expect(throws: foreign) { try storage.records.load(slot) }
    }

    @Test("AB-G05: a record has a maximum size, and a larger one leaves the old one unchanged")
    func aRecordHasABound() throws {
        let storage = try open()
        try storage.save(octets, in: slot)
        let limit = FileRecordStorage.maximumSize
        #expect(throws: RecordError.tooLarge(place: directory.file("app-07"), limit: limit)) {
            try storage.save([UInt8](repeating: 7, count: limit), in: slot)
        }
        #expect(try storage.load(slot) == octets)
        let most = [UInt8](repeating: 7, count: limit - 54)
        try storage.save(most, in: slot)
        #expect(try storage.load(slot) == most)
        #expect(throws: RecordError.self) { try storage.save(most + [7], in: slot) }
    }

    @Test func openingRemovesFilesOfKilledWriters() throws {
        try make()
        try write([1, 2, 3], to: "app-07.new")
        #expect(try open().load(slot) == octets && !names.contains("app-07.new"))
    }

    @Test("a record of another version is refused")
    func anotherVersionIsRefused() throws {
        try make()
        var changed = try content(of: "app-07")
        changed[8] = 9
        try write(changed, to: "app-07")
        #expect(try refusal() == .unknownVersion(place: directory.file("app-07"), 9))
    }

    @Test("a file of bonds of version 1 can still be read after a record has created the secret")
    func aFileOfVersion1IsReadAfterARecord() throws {
        let rights = [FileAttributeKey.posixPermissions: 0o700]
        try files.createDirectory(atPath: directory.path, withIntermediateDirectories: true, attributes: rights)
        try write(Samples.version1, to: "bonds")
        try make()
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        #expect(try storage.load()?.bonds.first?.name == "A")
    }

    @Test func memoryFollowsFromItsSecretAsLongAsItLasts() {
        let (lasting, other) = (
            MemoryBondStorage(secret: RandomSource(seed: 1)), MemoryBondStorage(secret: RandomSource(seed: 2))
        )
        #expect(lasting.derive("a")?.count == 32)
        #expect(lasting.derive("a") == lasting.derive("a"))
        #expect(lasting.derive("a") != lasting.derive("b"))
        #expect(lasting.derive("a") != other.derive("a"))
        #expect(MemoryBondStorage().derive("a") == nil)
    }

    @Test func refusalsOfRecordsSayWhatIsWrongAndWhatToDo() {
        let place = "/var/lib/app-00"
        let errors: [RecordError] = [
            .exposed(place: place, .symbolicLink), .exposed(place: place, .wrongKind),
            .exposed(place: place, .otherOwner(7)), .exposed(place: place, .permissions(0o644)),
            .damaged(place: place, reason: "wrong seal", backup: place + ".damaged-1"),
            .damaged(place: place, reason: "wrong seal", backup: nil), .foreign(place: place),
            .unknownVersion(place: place, 2), .tooLarge(place: place, limit: 9),
        ]
        for error in errors {
            let text = "\(error)"
            #expect(text.contains(";") && text.contains(place) && !text.contains("Optional"), "\(text)")
        }
        #expect("\(RecordError.full(64))".contains("64"))
    }
}
