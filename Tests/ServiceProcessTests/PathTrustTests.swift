import BluetoothTypes
import Foundation
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Files and directories that other users may control.
@Suite struct PathTrustTests {
    private let scratch = TemporaryDirectory.uncreated()

    private func make(_ name: String, _ mode: UInt32) throws -> String {
        let path = "\(scratch.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(chmod(path, mode_t(mode)) == 0)
        return path
    }

    private func fault(_ path: String) -> String? { PathTrust.fault(on: path, owners: [0, geteuid()]) }

    @Test(
        "AB-G05: a path is safe if its directories are; a sticky one counts as safe for the user's own files"
    )
    func safePaths() throws {
        let inner = try make("a/b", 0o755)
        #expect(fault(inner) == nil && fault("\(inner)/../b/.") == nil && fault("/") == nil)
        for mode: UInt32 in [0o775, 0o757, 0o777] {
            _ = try make("a", mode)
            #expect(fault(inner)?.contains("\(scratch.path)/a, which has mode \(String(mode, radix: 8))") == true)
        }
        _ = try make("a", 0o1777)
        #expect(fault(inner) == nil)
        _ = try make("a", 0o755)
        _ = try make("a/b", 0o770)
        #expect(fault(inner)?.contains("a/b, which has mode 770") == true)
        #expect(fault("\(inner)/nothing") != nil && fault("\(scratch.path)/none/x")?.contains("No such file") == true)
    }

    @Test("AB-G05: symbolic links count with every directory they pass through, and a loop ends")
    func symbolicLinks() throws {
        let (safe, open) = (try make("safe", 0o755), try make("open", 0o777))
        try FileManager.default.createSymbolicLink(atPath: "\(safe)/link", withDestinationPath: "../open")
        #expect(fault("\(safe)/link")?.contains("open, which has mode 777") == true)
        try FileManager.default.createSymbolicLink(atPath: "\(open)/back", withDestinationPath: safe)
        // It leads to a safe place, but can be redirected.
        #expect(fault("\(open)/back")?.contains("open, which has mode 777") == true)
        try FileManager.default.createSymbolicLink(atPath: "\(safe)/around", withDestinationPath: safe)
        #expect(fault("\(safe)/around") == nil)
        try FileManager.default.createSymbolicLink(atPath: "\(safe)/loop", withDestinationPath: "loop")
        #expect(fault("\(safe)/loop")?.contains("too many symbolic links") == true)
    }

    @Test(
        "AB-G05: objects of another user are not safe, not even links in a sticky directory",
        .enabled(if: getuid() == 0)
    )
    func ownersOfThings() throws {
        let sticky = try make("sticky", 0o1777)
        try FileManager.default.createSymbolicLink(atPath: "\(sticky)/link", withDestinationPath: "/usr")
        #expect(fault("\(sticky)/link") == nil)
        #expect(lchown("\(sticky)/link", 12_345, 12_345) == 0)
        #expect(fault("\(sticky)/link")?.contains("belongs to user 12345") == true)
        let file = "\(scratch.path)/program"
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        #expect(chmod(file, 0o755) == 0)
        #expect(fault(file) == nil)
        #expect(chmod(file, 0o775) == 0 && fault(file)?.contains("other users can write to \(file)") == true)
        #expect(chmod(file, 0o755) == 0)
        #expect(chown(file, 12_345, 0) == 0)
        #expect(fault(file)?.contains("belongs to user 12345") == true)
        #expect(PathTrust.fault(on: file, owners: [0, 12_345]) == nil)
    }

    @Test(
        "AB-G05: pipes, directories and devices are not read as files, without blocking, and files are read up to a limit"
    )
    func plainFiles() throws {
        let directory = try make("files", 0o700)
        #expect(mkfifo("\(directory)/pipe", 0o600) == 0)
        func fault(_ path: String) -> PlainFile.Fault? {
            do throws(PlainFile.Fault) {
                _ = try PlainFile(path, atMost: 100_000)
                return nil
            } catch {
                return error
            }
        }
        for path in ["\(directory)/pipe", directory, "/dev/zero"] { #expect(fault(path) == .notPlain, "\(path)") }
        #expect(fault("\(directory)/none") == .system(code: ENOENT))
        let file = "\(directory)/file"
        try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o640) == 0)
        let read = try PlainFile(file, atMost: 100_000)
        #expect(read.octets.count == 100_000)
        #expect(read.owner == geteuid())
        #expect(read.permissions == 0o640)
        #expect(throws: PlainFile.Fault.tooLong(limit: 99_999)) { try PlainFile(file, atMost: 99_999) }
    }
}
