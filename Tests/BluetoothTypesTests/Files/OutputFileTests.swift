import BluetoothTypes
import Foundation
import TestBasics
import Testing

/// Files that are written once they are complete. CaptureFileTests has those that grow at their path.
@Suite struct OutputFileTests {
    private let folder = TemporaryDirectory.uncreated()

    init() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try write("precious", [9])
    }

    private func write(_ name: String, _ octets: [UInt8]) throws {
        try Data(octets).write(to: URL(fileURLWithPath: folder.file(name)))
    }

    private func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: folder.file(name)).map { [UInt8]($0) }
    }

    private func mode(_ name: String) throws -> mode_t {
        var status = stat()
        try #require(stat(folder.file(name), &status) == 0)
        return status.st_mode & 0o7777
    }

    private func fault(_ body: () throws(OutputFile.Failure) -> Void) -> OutputFile.Failure.Fault? {
        do throws(OutputFile.Failure) {
            try body()
            return nil
        } catch {
            return error.fault
        }
    }

    /// A path that strangers prepared, and the reason why it is refused.
    enum Trap: CaseIterable {
        case link, dangling, linkToDevice, pipe, directory, device, above

        var fault: OutputFile.Failure.Fault { self == .above ? .system(ENOTDIR) : .notAFile }
    }

    private func lay(_ trap: Trap) throws -> String {
        let path = folder.file("trap")
        let targets: [Trap: String] = [
            .link: folder.file("precious"), .dangling: folder.file("nothing"), .linkToDevice: "/dev/null",
        ]
        if let target = targets[trap] {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        if trap == .pipe { try #require(mkfifo(path, 0o600) == 0) }
        if trap == .directory {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        return trap == .device ? "/dev/full" : trap == .above ? folder.file("precious") + "/file" : path
    }

    @Test(
        "AB-F02: nothing is written through a link, nor into a pipe, a device or a directory, and none of them waits",
        arguments: Trap.allCases
    )
    func traps(trap: Trap) throws {
        let path = try lay(trap)
        #expect(fault { () throws(OutputFile.Failure) in try OutputFile.write([1], to: path) } == trap.fault)
        #expect(fault { () throws(OutputFile.Failure) in try OutputFile.check(path) } == trap.fault)
        #expect(fault { () throws(OutputFile.Failure) in _ = try OutputFile(path, appears: .atOnce) } == trap.fault)
        #expect(content("precious") == [9])
        #expect(content("nothing") == nil)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(left).isSubset(of: ["precious", "trap"]))
    }

    @Test("AB-F02: a link that appears while the file is written is not followed either")
    func aLinkAppears() throws {
        let file = try OutputFile(folder.file("late"), appears: .whenFinished)
        try file.write([1])
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("late"),
            withDestinationPath: folder.file("precious")
        )
        #expect(fault { () throws(OutputFile.Failure) in try file.finish() } == .notAFile)
        #expect(content("precious") == [9])
    }

    @Test("AB-F02: a file that is not finished leaves the earlier one alone, and nothing behind")
    func unfinished() throws {
        do {
            let file = try OutputFile(folder.file("precious"), appears: .whenFinished)
            try file.write([1])
            #expect(content("precious") == [9])
        }
        #expect(content("precious") == [9])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["precious"])
    }

    @Test("a finished file keeps the permissions of the one that it replaces, whose other names keep its content")
    func replacement() throws {
        try #require(chmod(folder.file("precious"), 0o640) == 0)
        try FileManager.default.linkItem(atPath: folder.file("precious"), toPath: folder.file("other"))
        try OutputFile.write([1, 2], to: folder.file("precious"))
        #expect(content("precious") == [1, 2])
        #expect(content("other") == [9])
        #expect(try mode("precious") == 0o640)
        try OutputFile.write([3], to: folder.file("new"))
        #expect(content("new") == [3])
        #expect(try mode("new") & 0o111 == 0)
    }

    @Test("AB-F02: a file that the program reads is not replaced, by whatever name it is called")
    func inputs() throws {
        let path = folder.file("precious")
        try FileManager.default.createSymbolicLink(atPath: folder.file("alias"), withDestinationPath: path)
        try FileManager.default.linkItem(atPath: path, toPath: folder.file("other"))
        for name in ["precious", "other", "./precious"] {
            for input in ["precious", "alias", "other"] {
                let found = fault { () throws(OutputFile.Failure) in
                    try OutputFile.write([1], to: folder.file(name), reading: ["/nothing", folder.file(input)])
                }
                #expect(found == .isInput, "\(name) \(input)")
            }
        }
        #expect(content("precious") == [9])
    }

    @Test("a directory that does not exist or that cannot be written to is found before the work")
    func directories() throws {
        let nowhere = folder.file("nowhere/file")
        #expect(fault { () throws(OutputFile.Failure) in try OutputFile.check(nowhere) } == .system(ENOENT))
        #expect(fault { () throws(OutputFile.Failure) in try OutputFile.check(folder.file("new")) } == nil)
        #expect(content("new") == nil)
        let said = "cannot write /a: it is a file that this command reads; choose another path"
        #expect("\(OutputFile.Failure("/a", .isInput))" == said)
    }
}
