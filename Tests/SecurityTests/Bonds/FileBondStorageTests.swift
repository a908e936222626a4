import BluetoothTypes
import BondKillPoints
import EventLoops
import Foundation
import SMP
import Security
import TestBasics
import Testing

@Suite struct FileBondStorageTests {
    let directory: TestDirectory
    let files = FileManager.default

    init() throws {
        directory = try TestDirectory()
    }

    func open() throws -> BondStore {
        let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
        return try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
    }

    /// Creates and closes a store with one bond.
    func make() throws -> Bond { try open().add(Samples.fullBond(7)) }

    func permissions(_ path: String) throws -> Int? {
        try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func refusal() -> BondError? {
        do {
            _ = try open()
            return nil
        } catch {
            return error as? BondError
        }
    }

    @Test func bonds_are_there_after_a_restart_and_for_the_user_alone() throws {
        let bond = try make()
        #expect(try open().bonds == [bond])
        #expect(try permissions(directory.path) == 0o700)
        #expect(try permissions(directory.file("bonds")) == 0o600)
        #expect(try permissions(directory.file("secret")) == 0o600)
        #expect(try Set(files.contentsOfDirectory(atPath: directory.path)) == ["bonds", "lock", "secret"])
        try open().remove(bond.identifier)
        #expect(try open().bonds == [])
    }

    @Test func one_store_at_a_time() throws {
        let first = try open()
        #expect(refusal() == .inUse(place: directory.path))
        #expect(first.bonds.isEmpty)
    }

    @Test(
        "AB-G06: a file of bonds that other users may access is refused",
        arguments: [0o640, 0o604, 0o620, 0o601],
        ["bonds", "secret"]
    )
    func a_file_that_others_may_use_is_refused(mode: Int, name: String) throws {
        _ = try make()
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.file(name))
        #expect(refusal() == .exposed(place: directory.file(name), .permissions(UInt32(mode))))
        #expect(try permissions(directory.file(name)) == mode)
    }

    @Test("AB-G06: a directory of bonds that other users may enter is refused")
    func a_directory_that_others_may_enter_is_refused() throws {
        _ = try make()
        try files.setAttributes([.posixPermissions: 0o750], ofItemAtPath: directory.path)
        #expect(refusal() == .exposed(place: directory.path, .permissions(0o750)))
    }

    @Test("AB-G06: a link in place of the file of bonds is not followed", arguments: ["bonds", "lock", "secret"])
    func a_link_in_place_of_a_file_is_not_followed(name: String) throws {
        _ = try make()
        try files.moveItem(atPath: directory.file(name), toPath: directory.file("elsewhere"))
        try files.createSymbolicLink(atPath: directory.file(name), withDestinationPath: directory.file("elsewhere"))
        #expect(refusal() == .exposed(place: directory.file(name), .symbolicLink))
    }

    @Test("AB-G06: a link in place of the directory of bonds is not followed", arguments: ["", "/"])
    func a_link_in_place_of_the_directory_is_not_followed(end: String) throws {
        _ = try make()
        try files.createSymbolicLink(atPath: directory.path + "-link", withDestinationPath: directory.path)
        let place = directory.path + "-link"
        #expect(throws: BondError.exposed(place: place, .symbolicLink)) {
            try FileBondStorage(directory: place + end, random: RandomSource())
        }
    }

    @Test("AB-G06: a pipe in place of the file of bonds is refused at once")
    func a_pipe_in_place_of_the_file_is_refused_at_once() throws {
        _ = try make()
        try files.removeItem(atPath: directory.file("bonds"))
        try #require(mkfifo(directory.file("bonds"), 0o600) == 0)
        #expect(refusal() == .exposed(place: directory.file("bonds"), .wrongKind))
    }

    @Test(
        "AB-G06: a file of bonds of another user is refused",
        .enabled(if: geteuid() == 0, "only root may give a file away")
    )
    func a_file_of_another_user_is_refused() throws {
        _ = try make()
        try #require(chown(directory.file("bonds"), 12345, 12345) == 0)
        #expect(refusal() == .exposed(place: directory.file("bonds"), .otherOwner(12345)))
    }

    @Test("AB-G06: a truncated file of bonds is refused and kept", arguments: [0, 1, 13, 200])
    func a_truncated_file_is_refused_and_kept(length: Int) throws {
        _ = try make()
        let whole = try #require(files.contents(atPath: directory.file("bonds")))
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        try handle.truncate(atOffset: UInt64(length))
        // Repeated attempts produce a single backup.
        for _ in 0..<2 {
            guard case .damaged(directory.file("bonds"), _, directory.file("bonds.damaged-1")) = refusal() else {
                return recordIssue("\(String(describing: refusal()))")
            }
        }
        #expect(files.contents(atPath: directory.file("bonds.damaged-1")) == whole.prefix(length))
        #expect(!files.fileExists(atPath: directory.file("bonds.damaged-2")))
        // Removing the file, as the user was advised, gives a new store and keeps the backup.
        try files.removeItem(atPath: directory.file("bonds"))
        #expect(try open().bonds.isEmpty)
        #expect(files.fileExists(atPath: directory.file("bonds.damaged-1")))
    }

    @Test("AB-G06: a file of bonds of another version is refused")
    func another_version_is_refused() throws {
        _ = try make()
        var octets = try #require(files.contents(atPath: directory.file("bonds")))
        octets[8] = 9
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        handle.write(octets)
        #expect(refusal() == .unknownVersion(place: directory.file("bonds"), 9))
    }

    @Test("AB-H08: a copied directory of bonds does not serve another adapter")
    func a_copied_directory_does_not_serve_another_adapter() throws {
        _ = try make()
        // With the same secret and at the same place.
        let other = AdapterIdentity(address: BluetoothAddress(0x0102_0304_0506, kind: .publicDevice), place: "usb")
        let error = BondError.otherAdapter(place: directory.file("bonds"), owner: Samples.adapter, present: other)
        #expect(throws: error) {
            let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
            _ = try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 1))
        }
    }

    @Test("AB-G06, AB-H08: a file of bonds from another host is foreign")
    func a_file_of_bonds_from_another_host_is_foreign() throws {
        _ = try make()
        let elsewhere = try TestDirectory()
        let storage = try FileBondStorage(directory: elsewhere.path, random: RandomSource())
        let theirs = try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
        try theirs.add(Samples.bond(8))
        let planted = try #require(files.contents(atPath: elsewhere.file("bonds")))
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        handle.write(planted)
        try handle.truncate(atOffset: UInt64(planted.count))
        let foreign = BondError.foreign(place: directory.file("bonds"), secret: directory.file("secret"))
        #expect(refusal() == foreign)
        #expect(throws: foreign) { try FileBondStorage.inspect(into: directory.path) }
        // The file stays, and a new store keeps the secret.
        #expect(files.contents(atPath: directory.file("bonds")) == planted)
        let secret = files.contents(atPath: directory.file("secret"))
        try files.removeItem(atPath: directory.file("bonds"))
        #expect(try open().bonds.isEmpty)
        #expect(files.contents(atPath: directory.file("secret")) == secret)
    }

    @Test("AB-G06: bonds whose secret is gone or cut are refused")
    func bonds_whose_secret_is_gone_or_cut_are_refused() throws {
        let bond = try make()
        let secret = try #require(files.contents(atPath: directory.file("secret")))
        try files.removeItem(atPath: directory.file("secret"))
        #expect(refusal() == .foreign(place: directory.file("bonds"), secret: directory.file("secret")))
        #expect(!files.fileExists(atPath: directory.file("secret")), "none is made over what is there")
        let rights = [FileAttributeKey.posixPermissions: 0o600]
        #expect(files.createFile(atPath: directory.file("secret"), contents: secret.dropLast(), attributes: rights))
        #expect(refusal() == .damaged(place: directory.file("secret"), reason: "it has 63 octets", backup: nil))
        try files.setAttributes(rights, ofItemAtPath: directory.file("secret"))
        #expect(files.createFile(atPath: directory.file("secret"), contents: secret + secret, attributes: rights))
        let tooLong = BondError.damaged(
            place: directory.file("secret"),
            reason: "it is longer than 64 octets",
            backup: nil
        )
        #expect(refusal() == tooLong)
        #expect(files.createFile(atPath: directory.file("secret"), contents: secret, attributes: rights))
        #expect(try open().bonds == [bond])
    }

    /// Writes a file of version 1 into a new directory.
    private func makeVersion1() throws {
        let rights = [FileAttributeKey.posixPermissions: 0o700]
        try files.createDirectory(atPath: directory.path, withIntermediateDirectories: true, attributes: rights)
        let file = Data(Samples.version1)
        let own = [FileAttributeKey.posixPermissions: 0o600]
        #expect(files.createFile(atPath: directory.file("bonds"), contents: file, attributes: own))
    }

    @Test("a file of version 1 is read, and rewritten with the next change")
    func aFileOfVersion1IsReadAndWrittenAnew() throws {
        try makeVersion1()
        let store = try open()
        let bond = try #require(store.bonds.first)
        #expect(bond.name == "A")
        #expect(!files.fileExists(atPath: directory.file("secret")))
        try store.update(bond.identifier) { $0.name = "B" }
        #expect(files.contents(atPath: directory.file("bonds"))?[8] == 3)
    }

    @Test("AB-G06, AB-H08: a file of version 1 that appears after the secret is foreign")
    func aFileOfVersion1AfterTheSecretIsForeign() throws {
        _ = try make()
        try files.removeItem(atPath: directory.file("bonds"))
        try makeVersion1()
        #expect(refusal() == .foreign(place: directory.file("bonds"), secret: directory.file("secret")))
    }

    @Test("an adapter without an address has a stable address per place")
    func withoutItsOwnAnAdapterHasOneAddressAtOnePlace() throws {
        func address(at place: String, in directory: TestDirectory) throws -> BluetoothAddress {
            // Independent of previous content, and of how often the store is recreated.
            try? files.removeItem(atPath: directory.file("bonds"))
            let storage = try FileBondStorage(directory: directory.path, random: RandomSource())
            let nameless = AdapterIdentity(address: .none, place: place)
            return try BondStore(storage: storage, adapter: nameless, random: RandomSource()).identity.address
        }
        let first = try address(at: "usb 1", in: directory)
        #expect(first.randomKind == .static)
        #expect(try address(at: "usb 1", in: directory) == first)
        #expect(try address(at: "usb 2", in: directory) != first)
        #expect(try address(at: "usb 1", in: TestDirectory()) != first)
    }

    @Test("reading the bonds of a store in use changes nothing")
    func inspectionChangesNothing() throws {
        let store = try open()
        let bond = try store.add(Samples.bond(7))
        // A file being written at the moment is left alone.
        let rights = [FileAttributeKey.posixPermissions: 0o600]
        #expect(files.createFile(atPath: directory.file("bonds.new"), contents: Data([1]), attributes: rights))
        let state = try #require(try FileBondStorage.inspect(into: directory.path))
        #expect(state.bonds == [bond])
        #expect(state.adapter == Samples.adapter)
        #expect(files.fileExists(atPath: directory.file("bonds.new")))
        // Changing the bonds requires the lock.
        #expect(refusal() == .inUse(place: directory.path))
        try store.remove(bond.identifier)
        #expect(try FileBondStorage.inspect(into: directory.path)?.bonds == [])
    }

    @Test func inspection_creates_nothing_and_checks_files() throws {
        #expect(throws: BondError.self) { try FileBondStorage.inspect(into: directory.path) }
        #expect(!files.fileExists(atPath: directory.path))
        _ = try make()
        #expect(try FileBondStorage.inspect(into: directory.path)?.bonds.count == 1)
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        try handle.truncate(atOffset: 100)
        #expect(throws: BondError.self) { try FileBondStorage.inspect(into: directory.path) }
        #expect(try Set(files.contentsOfDirectory(atPath: directory.path)) == ["bonds", "lock", "secret"])
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: directory.file("bonds"))
        #expect(throws: BondError.exposed(place: directory.file("bonds"), .permissions(0o644))) {
            try FileBondStorage.inspect(into: directory.path)
        }
    }

    @Test func opening_removes_files_of_killed_writers() throws {
        let bond = try make()
        let rest = [FileAttributeKey.posixPermissions: 0o600]
        #expect(files.createFile(atPath: directory.file("bonds.new"), contents: Data([1, 2, 3]), attributes: rest))
        #expect(try open().bonds == [bond])
        #expect(!files.fileExists(atPath: directory.file("bonds.new")))
    }

    @Test func a_value_that_could_not_be_read_again_is_not_written() throws {
        let store = try open()
        let bond = try store.add(Samples.bond(1))
        #expect(throws: BondError.self) { try store.update(bond.identifier) { $0.keys.level.keySize = 17 } }
        #expect(store.bonds == [bond])
    }

    @Test func refusals_say_what_is_wrong_and_what_to_do() {
        let place = "/var/lib/bonds"
        let errors: [BondError] = [
            .weaker(than: Samples.bond(1).identifier), .full(3), .ownIdentity,
            .identityTaken(by: Samples.bond(1).identifier, name: nil),
            .identityTaken(by: Samples.bond(1).identifier, name: "Thermometer"),
            .foreign(place: place, secret: "/var/lib/secret"), .unknown(Samples.bond(1).identifier),
            .missing(place: place), .inUse(place: place), .tooLarge(place: place), .unknownVersion(place: place, 2),
            .otherAdapter(place: place, owner: Samples.adapter, present: AdapterIdentity(address: .none)),
            .damaged(place: place, reason: "wrong checksum", backup: place + ".damaged-1"),
            .exposed(place: place, .symbolicLink), .exposed(place: place, .wrongKind),
            .exposed(place: place, .otherOwner(7)), .exposed(place: place, .permissions(0o644)),
            .system(place: place, doing: "written", reason: "No space left on device"),
        ]
        for error in errors {
            let text = "\(error)"
            #expect(text.contains(";") || text.contains("so its"), "no advice in: \(text)")
            #expect(!text.contains("Optional"))
        }
    }
}
