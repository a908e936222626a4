import BluetoothTypes
import BondKillPoints
import Bonds
import EventLoops
import Foundation
import SMP
import Testing

@Suite struct FileBondStorageTests {
    let directory: ScratchDirectory
    let files = FileManager.default

    init() throws {
        directory = try ScratchDirectory()
    }

    func open() throws -> BondStore {
        let storage = try FileBondStorage(directory: directory.path)
        return try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
    }

    /// A store with a bond in it, closed.
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
        #expect(try Set(files.contentsOfDirectory(atPath: directory.path)) == ["bonds", "lock"])
        try open().remove(bond.identifier)
        #expect(try open().bonds == [])
    }

    @Test func one_store_at_a_time() throws {
        let first = try open()
        #expect(refusal() == .inUse(place: directory.path))
        #expect(first.bonds.isEmpty)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601])
    func AB_G06_a_file_that_others_may_use_is_refused(mode: Int) throws {
        _ = try make()
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.file("bonds"))
        #expect(refusal() == .exposed(place: directory.file("bonds"), .permissions(UInt32(mode))))
        #expect(try permissions(directory.file("bonds")) == mode)
    }

    @Test func AB_G06_a_directory_that_others_may_enter_is_refused() throws {
        _ = try make()
        try files.setAttributes([.posixPermissions: 0o750], ofItemAtPath: directory.path)
        #expect(refusal() == .exposed(place: directory.path, .permissions(0o750)))
    }

    @Test(arguments: ["bonds", "lock"])
    func AB_G06_a_link_in_place_of_a_file_is_not_followed(name: String) throws {
        _ = try make()
        try files.moveItem(atPath: directory.file(name), toPath: directory.file("elsewhere"))
        try files.createSymbolicLink(atPath: directory.file(name), withDestinationPath: directory.file("elsewhere"))
        #expect(refusal() == .exposed(place: directory.file(name), .symbolicLink))
    }

    @Test(arguments: ["", "/"])
    func AB_G06_a_link_in_place_of_the_directory_is_not_followed(end: String) throws {
        _ = try make()
        try files.createSymbolicLink(atPath: directory.path + "-link", withDestinationPath: directory.path)
        let place = directory.path + "-link"
        #expect(throws: BondError.exposed(place: place, .symbolicLink)) { try FileBondStorage(directory: place + end) }
    }

    @Test func AB_G06_a_pipe_in_place_of_the_file_is_refused_at_once() throws {
        _ = try make()
        try files.removeItem(atPath: directory.file("bonds"))
        try #require(mkfifo(directory.file("bonds"), 0o600) == 0)
        #expect(refusal() == .exposed(place: directory.file("bonds"), .wrongKind))
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give a file away"))
    func AB_G06_a_file_of_another_user_is_refused() throws {
        _ = try make()
        try #require(chown(directory.file("bonds"), 12345, 12345) == 0)
        #expect(refusal() == .exposed(place: directory.file("bonds"), .otherOwner(12345)))
    }

    @Test(arguments: [0, 1, 13, 200])
    func AB_G06_a_truncated_file_is_refused_and_kept(length: Int) throws {
        _ = try make()
        let whole = try #require(files.contents(atPath: directory.file("bonds")))
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        try handle.truncate(atOffset: UInt64(length))
        // As often as it is tried, and there is one backup.
        for _ in 0..<2 {
            guard case .damaged(directory.file("bonds"), _, directory.file("bonds.damaged-1")) = refusal() else {
                Issue.record("\(String(describing: refusal()))")
                return
            }
        }
        #expect(files.contents(atPath: directory.file("bonds.damaged-1")) == whole.prefix(length))
        #expect(!files.fileExists(atPath: directory.file("bonds.damaged-2")))
        // With the file gone, as the person was told, there is a new beginning, and the backup stays.
        try files.removeItem(atPath: directory.file("bonds"))
        #expect(try open().bonds.isEmpty)
        #expect(files.fileExists(atPath: directory.file("bonds.damaged-1")))
    }

    @Test func AB_G06_another_version_is_refused() throws {
        _ = try make()
        var octets = try #require(files.contents(atPath: directory.file("bonds")))
        octets[8] = 9
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("bonds")))
        handle.write(octets)
        #expect(refusal() == .unknownVersion(place: directory.file("bonds"), 9))
    }

    @Test func AB_H08_a_copied_directory_does_not_serve_another_adapter() throws {
        _ = try make()
        let other = AdapterIdentity(address: BluetoothAddress(0x0102_0304_0506, kind: .publicDevice), details: "usb")
        let error = BondError.otherAdapter(place: directory.file("bonds"), owner: Samples.adapter, present: other)
        #expect(throws: error) {
            let storage = try FileBondStorage(directory: directory.path)
            _ = try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 1))
        }
    }

    @Test func what_a_killed_writer_left_goes_with_the_next_start() throws {
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
            .weaker(than: Samples.bond(1).identifier), .full(3), .unknown(Samples.bond(1).identifier),
            .missing(place: place), .inUse(place: place), .tooLarge(place: place), .unknownVersion(place: place, 2),
            .otherAdapter(place: place, owner: Samples.adapter, present: AdapterIdentity(address: .none)),
            .damaged(place: place, reason: "the checksum is wrong", backup: place + ".damaged-1"),
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
