import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

/// A temporary directory that is deleted with the test.
private final class Folder {
    let path = NSTemporaryDirectory() + "harald-capture-\(UUID())"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return try #require(attributes[.posixPermissions] as? Int)
    }

    func content(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { [UInt8]($0) } ?? []
    }
}

@Suite struct CaptureFileTests {
    @Test func a_capture_is_for_the_user_alone() throws {
        let folder = try Folder()
        try CaptureFile(path: "\(folder.path)/new").write([1, 2])
        #expect(try folder.mode("new") == 0o600)
        #expect(folder.content("new") == [1, 2])
    }

    @Test("a world-readable capture file is replaced, and a process that has it open reads nothing new")
    func aFileThatAllCouldReadGivesWay() throws {
        let folder = try Folder()
        let path = "\(folder.path)/old"
        let forAll = [FileAttributeKey.posixPermissions: 0o666]
        #expect(FileManager.default.createFile(atPath: path, contents: Data([9, 9, 9]), attributes: forAll))
        let reader = try #require(FileHandle(forReadingAtPath: path))
        try CaptureFile(path: path).write([1])
        #expect(try folder.mode("old") == 0o600)
        #expect(folder.content("old") == [1])
        #expect(try reader.readToEnd() == Data([9, 9, 9]))
    }

    @Test func a_link_is_not_followed_wherever_it_leads() throws {
        let folder = try Folder()
        #expect(FileManager.default.createFile(atPath: "\(folder.path)/precious", contents: Data([9])))
        for (name, target) in [("link", "precious"), ("dangling", "nothing")] {
            let path = "\(folder.path)/\(name)"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(folder.path)/\(target)")
            #expect(throws: CaptureError(path, .notAFile)) { try CaptureFile(path: path) }
        }
        #expect(folder.content("precious") == [9])
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/nothing"))
    }

    @Test func a_second_name_of_a_file_leaves_the_file_alone() throws {
        let folder = try Folder()
        #expect(FileManager.default.createFile(atPath: "\(folder.path)/precious", contents: Data([9])))
        try FileManager.default.linkItem(atPath: "\(folder.path)/precious", toPath: "\(folder.path)/other")
        try CaptureFile(path: "\(folder.path)/other").write([1])
        #expect(folder.content("precious") == [9] && folder.content("other") == [1])
    }

    @Test func what_cannot_be_written_says_why_and_what_to_do() throws {
        let folder = try Folder()
        #expect(throws: CaptureError(folder.path, .notAFile)) { try CaptureFile(path: folder.path) }
        #expect(throws: CaptureError("/dev/null", .notAFile)) { try CaptureFile(path: "/dev/null") }
        let path = "\(folder.path)/nowhere/file"
        do throws(CaptureError) {
            _ = try CaptureFile(path: path)
            Issue.record("the folder does not exist")
        } catch {
            #expect(error.fault == .system(ENOENT))
            #expect("\(error)".contains(path) && error.reason.contains("folder that exists"))
        }
    }

    @Test func what_passes_is_in_the_file_with_the_time_of_day() throws {
        let folder = try Folder()
        let loop = VirtualEventLoop()
        loop.run(for: .seconds(5))
        let (host, controller) = InMemoryTransport.pair(loop: loop)
        let file = try CaptureFile(path: "\(folder.path)/passed")
        let before = Date().timeIntervalSince1970
        let snooping = SnoopingTransport.toFile(file, host, end: .host, loop: loop)
        snooping.send(HCIPacket(Reset()))
        controller.send(HCIPacket(CommandComplete(Reset.self, StatusOnly())))
        loop.run(for: .seconds(1))
        var reader = try BTSnoopReader(PacketBuffer(folder.content("passed")))
        let sent = try #require(try reader.next())
        let received = try #require(try reader.next())
        #expect(sent.packet == HCIPacket(Reset()) && sent.direction == .hostToController)
        #expect(received.direction == .controllerToHost)
        #expect(abs(Double(sent.unixMicroseconds) / 1e6 - before) < 60)
        #expect(try reader.next() == nil)
    }

    /// A controller that is plugged in again uses another transport, and the same file.
    @Test func theNextLineGoesOnInTheSameFile() throws {
        let folder = try Folder()
        let loop = VirtualEventLoop()
        let file = try CaptureFile(path: "\(folder.path)/passed")
        for _ in 0..<3 {
            let line = InMemoryTransport.pair(loop: loop).host
            SnoopingTransport.toFile(file, line, end: .host, loop: loop).send(HCIPacket(Reset()))
        }
        var reader = try BTSnoopReader(PacketBuffer(folder.content("passed")))
        for _ in 0..<3 { #expect(try reader.next()?.packet == HCIPacket(Reset())) }
        #expect(try reader.next() == nil)
    }
}
