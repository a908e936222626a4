import BluetoothTypes
import EventLoops
import Foundation
import HCI
import TestBasics
import Testing

extension TemporaryDirectory {
    fileprivate func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    fileprivate func content(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: file(name)).map { [UInt8]($0) } ?? []
    }
}

@Suite struct CaptureFileTests {
    @Test func a_capture_is_for_the_user_alone() throws {
        let folder = try TemporaryDirectory()
        try CaptureFile(path: folder.file("new")).write([1, 2])
        #expect(try folder.mode("new") == 0o600)
        #expect(folder.content("new") == [1, 2])
    }

    @Test("a world-readable capture file is replaced, and a process that has it open reads nothing new")
    func aFileThatAllCouldReadGivesWay() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("old")
        let forAll = [FileAttributeKey.posixPermissions: 0o666]
        #expect(FileManager.default.createFile(atPath: path, contents: Data([9, 9, 9]), attributes: forAll))
        let reader = try #require(FileHandle(forReadingAtPath: path))
        try CaptureFile(path: path).write([1])
        #expect(try folder.mode("old") == 0o600)
        #expect(folder.content("old") == [1])
        #expect(try reader.readToEnd() == Data([9, 9, 9]))
    }

    @Test func a_link_is_not_followed_wherever_it_leads() throws {
        let folder = try TemporaryDirectory()
        #expect(FileManager.default.createFile(atPath: folder.file("precious"), contents: Data([9])))
        for (name, target) in [("link", "precious"), ("dangling", "nothing")] {
            let path = folder.file(name)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file(target))
            #expect(throws: OutputFile.Failure(path, .notAFile)) { try CaptureFile(path: path) }
        }
        #expect(folder.content("precious") == [9])
        #expect(!FileManager.default.fileExists(atPath: folder.file("nothing")))
    }

    @Test func a_second_name_of_a_file_leaves_the_file_alone() throws {
        let folder = try TemporaryDirectory()
        #expect(FileManager.default.createFile(atPath: folder.file("precious"), contents: Data([9])))
        try FileManager.default.linkItem(atPath: folder.file("precious"), toPath: folder.file("other"))
        try CaptureFile(path: folder.file("other")).write([1])
        #expect(folder.content("precious") == [9])
        #expect(folder.content("other") == [1])
    }

    @Test func unwritable_files_are_reported_with_advice() throws {
        let folder = try TemporaryDirectory()
        #expect(throws: OutputFile.Failure(folder.path, .notAFile)) { try CaptureFile(path: folder.path) }
        #expect(throws: OutputFile.Failure("/dev/null", .notAFile)) { try CaptureFile(path: "/dev/null") }
        let path = "\(folder.path)/nowhere/file"
        do throws(OutputFile.Failure) {
            _ = try CaptureFile(path: path)
            Issue.record("the folder does not exist")
        } catch {
            #expect(error.fault == .system(ENOENT))
            #expect("\(error)".contains(path) && error.reason.contains("folder that exists"))
        }
    }

    @Test func packets_are_recorded_with_the_time_of_day() throws {
        let folder = try TemporaryDirectory()
        let loop = VirtualEventLoop()
        loop.run(for: .seconds(5))
        let (host, controller) = InMemoryTransport.pair(loop: loop)
        let file = try CaptureFile(path: folder.file("passed"))
        let before = Date().timeIntervalSince1970
        let snooping = SnoopingTransport.toFile(file, host, end: .host, loop: loop)
        snooping.send(HCIPacket(Reset()))
        controller.send(HCIPacket(CommandComplete(Reset.self, StatusOnly())))
        loop.run(for: .seconds(1))
        let records = try CaptureReader.records(of: folder.content("passed"))
        try #require(records.count == 2)
        let (sent, received) = (records[0], records[1])
        #expect(sent.packet == HCIPacket(Reset()))
        #expect(sent.direction == .hostToController)
        #expect(received.direction == .controllerToHost)
        #expect(abs(Double(sent.unixMicroseconds) / 1e6 - before) < 60)
    }

    /// A controller that is plugged in again uses another transport, and the same file.
    @Test func theNextLineGoesOnInTheSameFile() throws {
        let folder = try TemporaryDirectory()
        let loop = VirtualEventLoop()
        let file = try CaptureFile(path: folder.file("passed"))
        for _ in 0..<3 {
            let line = InMemoryTransport.pair(loop: loop).host
            SnoopingTransport.toFile(file, line, end: .host, loop: loop).send(HCIPacket(Reset()))
        }
        let records = try CaptureReader.records(of: folder.content("passed"))
        #expect(records.map(\.packet) == Array(repeating: HCIPacket(Reset()), count: 3))
    }
}
