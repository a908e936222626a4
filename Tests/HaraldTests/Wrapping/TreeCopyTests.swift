import Foundation
import TestBasics
import Testing

@testable import harald

// See TreeCopy.swift.
#if canImport(CoreFoundation)
    import CoreFoundation
#endif
#if canImport(CDispatch)
    import CDispatch
#endif

/// Copies of directories that strangers have made.
@Suite struct TreeCopyTests {
    private let folder = TemporaryDirectory.uncreated()
    private var package: String { folder.file("outer/package") }
    private var copy: String { folder.file("copy") }

    init() throws {
        for name in ["package/Sources/Kit", "elsewhere"] { try make(folder.file("outer/" + name)) }
        try write("Package.swift", "manifest")
        try write("Sources/Kit/a.swift", "code")
        try write("../elsewhere/victim", "precious")
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: package + "/" + name))
    }

    private func link(_ name: String, _ target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: package + "/" + name, withDestinationPath: target)
    }

    /// Returns why the copy was refused; nil if it was made.
    private func refusal(of path: String? = nil, apart: String = "/nothing", atMost limit: Int = 1_000) -> String? {
        do throws(WrappingError) {
            let left: Set<String> = [".build", ".git"]
            var tree = try TreeCopy(of: path ?? package, to: copy, without: left, apart: apart, atMost: limit)
            try tree.make()
            return nil
        } catch {
            return error.description
        }
    }

    /// The names in the copy, with the text of each file. A link has the text "link".
    private func copied() throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: copy) {
            var status = stat()
            try #require(lstat(copy + "/" + name, &status) == 0)
            if status.st_mode & S_IFMT == S_IFLNK { found[name] = "link" }
            guard status.st_mode & S_IFMT == S_IFREG else { continue }
            found[name] = try String(contentsOfFile: copy + "/" + name, encoding: .utf8)
        }
        return found
    }

    @Test("AB-T01: a link within the package becomes a copy of what it leads to, and the copy has no links")
    func linksWithin() throws {
        try link("Sources/Kit/b.swift", "a.swift")
        try link("Sources/Kit/chain.swift", "b.swift")
        try link("Sources/Kit/around.swift", "../../Sources/../Sources/Kit/./a.swift")
        try link("Sources/Kit/out-and-in.swift", "../../../package/Sources/Kit/a.swift")
        try link("Sources/Other", "Kit")
        try link("Sources/Kit/absolute.swift", package + "/Sources/Kit/a.swift")
        #expect(refusal() == nil)
        let names = ["a", "b", "chain", "around", "out-and-in", "absolute"].map { "\($0).swift" }
        var expected = ["Package.swift": "manifest"]
        for name in names { for directory in ["Kit", "Other"] { expected["Sources/\(directory)/\(name)"] = "code" } }
        #expect(try copied() == expected)
        try Data("changed".utf8).write(to: URL(fileURLWithPath: copy + "/Sources/Kit/b.swift"))
        #expect(try String(contentsOfFile: package + "/Sources/Kit/a.swift", encoding: .utf8) == "code")
    }

    @Test(
        "AB-T01: a link that leaves the package is refused, to whatever it leads and however it is hidden",
        arguments: [
            [("z", "../../../elsewhere/victim")], [("z", "../../../elsewhere")], [("z", "../../..")], [("z", "/")],
            [("z", "/etc/passwd")], [("z", "/dev/null")], [("z", "nothing")], [("z", "../../../nothing")],
            [("z", "../Kit/../../../elsewhere/victim")], [("z", "../../../package-2")], [("z", "z")],
            [("y", "z"), ("z", "y")], [("a.txt", "../../../elsewhere/victim"), ("z", "a.txt")],
            [("z", "../../Sources/../../elsewhere/victim")],
        ]
    )
    func linksOut(links: [(name: String, target: String)]) throws {
        // A directory whose name begins as that of the package does.
        try make(folder.file("outer/package-2"))
        for (name, target) in links { try link("Sources/Kit/" + name, target) }
        let said = try #require(refusal())
        #expect(said.contains("Sources/Kit/\(links[0].name) is a symbolic link that lea"), "\(said)")
        let victim = try String(contentsOfFile: folder.file("outer/elsewhere/victim"), encoding: .utf8)
        #expect(victim == "precious")
    }

    @Test("AB-T01: a link inside of a linked directory is judged by what it leads to, too")
    func linksInLinkedDirectories() throws {
        try link("Sources/Other", "Kit")
        try link("Sources/Kit/out.swift", "../../../elsewhere/victim")
        #expect(refusal()?.contains("leaves the package") == true)
    }

    @Test("AB-T01: a link to a directory that contains it is refused", arguments: [".", "..", "../..", "../Two"])
    func cycles(target: String) throws {
        try make(package + "/Sources/Two")
        try link("Sources/Two/back", "../Kit")
        try link("Sources/Kit/loop", target)
        #expect(refusal()?.contains("leads to a directory that contains it") == true)
    }

    @Test("AB-T01: directories that links multiply are bounded")
    func multiplication() throws {
        try make(package + "/d0")
        for number in 1...20 {
            try make(package + "/d\(number)")
            for name in ["a", "b"] { try link("d\(number)/\(name)", "../d\(number - 1)") }
        }
        #expect(refusal()?.contains("more than 1000 ") == true)
    }

    @Test("AB-T01: deep directories are bounded")
    func depth() throws {
        try make(package + String(repeating: "/d", count: TreeCopy.maximumDepth + 1))
        #expect(refusal()?.contains("too many directories above it") == true)
    }

    @Test("AB-T01: pipes, sockets and devices are refused, without waiting for them, also behind a link")
    func specialFiles() throws {
        try #require(mkfifo(package + "/Sources/Kit/pipe.swift", 0o600) == 0)
        #expect(refusal()?.contains("Sources/Kit/pipe.swift is a pipe, a socket or a device") == true)
        #expect(throws: WrappingError.self) { try TextFile.read(package + "/Sources/Kit/pipe.swift") }
        try FileManager.default.removeItem(atPath: copy)
        try FileManager.default.removeItem(atPath: package + "/Sources/Kit/pipe.swift")
        try #require(mkfifo(package + "/pipe", 0o600) == 0)
        try link("Sources/Kit/b.swift", "../../pipe")
        #expect(refusal()?.contains("is a pipe, a socket or a device") == true)
    }

    @Test("a copy has the rights of programs, and neither builds, history nor the directory of copies")
    func copiedContent() throws {
        for name in [".build/x", ".git/x", "Sources/.build", "scratch"] { try make(package + "/" + name) }
        try write("Sources/.build/kept", "kept")
        try write("scratch/left", "left")
        try write("run", "program")
        try #require(chmod(package + "/run", 0o755) == 0)
        #expect(refusal(apart: package + "/scratch") == nil)
        let expected = ["Package.swift", "Sources/.build/kept", "Sources/Kit/a.swift", "run"]
        #expect(try copied().keys.sorted() == expected)
        #expect(FileManager.default.isExecutableFile(atPath: copy + "/run"))
        #expect(!FileManager.default.isExecutableFile(atPath: copy + "/Package.swift"))
    }

    @Test("AB-T01: an earlier copy is removed without what its links lead to, and no link leads to the new one")
    func earlierCopies() throws {
        let scratch = ScratchDirectory(path: folder.file("scratch"))
        let place = scratch.copy(of: package)
        try scratch.prepare()
        try scratch.makeRoom(for: place)
        try make(place)
        try FileManager.default.createSymbolicLink(
            atPath: place + "/out",
            withDestinationPath: folder.file("outer/elsewhere")
        )
        try scratch.makeRoom(for: place)
        #expect(!FileManager.default.fileExists(atPath: place))
        #expect(FileManager.default.fileExists(atPath: folder.file("outer/elsewhere/victim")))
        let above = URL(fileURLWithPath: place).deletingLastPathComponent().path
        try FileManager.default.removeItem(atPath: above)
        try FileManager.default.createSymbolicLink(atPath: above, withDestinationPath: folder.file("outer"))
        #expect(throws: WrappingError.self) { try scratch.makeRoom(for: place) }
        #expect(FileManager.default.fileExists(atPath: package + "/Package.swift"))
    }
}
