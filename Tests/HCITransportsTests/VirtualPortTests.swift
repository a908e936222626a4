import Foundation
import TestBasics
import Testing

@testable import HCITransports

@Suite struct VirtualPortTests {
    // The status as Linux 6.1 prints it: the second port is taken, the third is for USB 3.
    private static let status = """
        hub port sta spd dev      sockfd local_busid
        hs  0000 006 002 00010002 000003 1-1
        hs  0001 004 000 00000000 000000 0-0
        ss  0008 004 000 00000000 000000 0-0

        """

    @Test("a device is attached to the first free port, at full speed")
    func aDeviceIsPluggedIn() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.write(Self.status, to: "status")
        try files.write("", to: "attach")
        let socket = try VirtualPort.plug(in: files.path)
        defer { close(socket) }
        let said = try String(contentsOfFile: files.file("attach"), encoding: .utf8).split(separator: " ")
        #expect(said.count == 4 && said[0] == "1" && said[2...] == ["65538", "2"])
        // The kernel alone owns the other end; the stand-in did not keep it.
        var octet: UInt8 = 0
        #expect(read(socket, &octet, 1) == 0)
    }

    @Test func whyNothingCanBePluggedInIsTold() throws {
        let files = try TemporaryDirectory.kernelFiles()
        #expect(throws: VirtualPort.Failure.noPorts) { try VirtualPort.plug(in: files.path) }
        #expect("\(VirtualPort.Failure.noPorts)".contains("modprobe vhci-hcd"))
        try files.write(Self.status.replacingOccurrences(of: "0001 004", with: "0001 006"), to: "status")
        #expect(throws: VirtualPort.Failure.allTaken) { try VirtualPort.plug(in: files.path) }
        try files.write(Self.status, to: "status")
        #expect(throws: VirtualPort.Failure.failed(asked: files.file("attach"), code: ENOENT)) {
            try VirtualPort.plug(in: files.path)
        }
    }
}
