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

/// Paths at the limits of what is followed.
@Suite struct PathTrustBoundsTests {
    private let scratch = TemporaryDirectory.uncreated()

    private func fault(_ path: String) -> String? { PathTrust.fault(on: path, owners: [0, geteuid()]) }

    @Test("AB-G05: 40 symbolic links are followed, and not one more, be they relative or absolute")
    func fortyLinks() throws {
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: scratch.path + "/0", withIntermediateDirectories: true)
        for number in 1...41 {
            let next = number % 2 == 0 ? "\(scratch.path)/\(number - 1)" : "\(number - 1)"
            try FileManager.default.createSymbolicLink(
                atPath: "\(scratch.path)/\(number)",
                withDestinationPath: next
            )
        }
        #expect(fault("\(scratch.path)/40") == nil)
        #expect(fault("\(scratch.path)/41") == "\(scratch.path)/41 has too many symbolic links")
    }

    @Test("a path without a beginning is one of the working directory")
    func relativePaths() {
        let name = "nothing-\(UUID())"
        let place = FileManager.default.currentDirectoryPath
        #expect(fault(name) == fault("\(place)/\(name)") && fault("\(place)/\(name)") != nil)
        #expect(fault(".") == fault(place) && fault("./..") == fault("\(place)/.."))
    }

    @Test("dots lead nowhere and back, and not above the root")
    func dots() throws {
        for name in ["a/b", "c"] {
            try FileManager.default.createDirectory(
                atPath: "\(scratch.path)/\(name)",
                withIntermediateDirectories: true
            )
        }
        #expect(chmod("\(scratch.path)/c", 0o777) == 0)
        #expect(fault("\(scratch.path)/a/./b/../b") == nil && fault("\(scratch.path)/a/b/../../a") == nil)
        #expect(fault("\(scratch.path)/a/b/../../c")?.hasPrefix("other users can write to \(scratch.path)/c, ") == true)
        #expect(fault("/..") == nil && fault("/../..\(scratch.path)/a") == nil)
        // A link within the way leads on from where it stands.
        try FileManager.default.createSymbolicLink(atPath: "\(scratch.path)/a/up", withDestinationPath: "../c")
        #expect(fault("\(scratch.path)/a/up/x")?.hasPrefix("other users can write to \(scratch.path)/c, ") == true)
    }

    @Test("a file is read up to its limit, with its permission bits, and a list of none is empty")
    func limitsOfFiles() throws {
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        let path = scratch.path + "/file"
        for size in [0, 1, 16_384, 16_385] {
            try Data((0..<size).map { UInt8(truncatingIfNeeded: $0) }).write(to: URL(fileURLWithPath: path))
            #expect(try PlainFile(path, atMost: size).octets == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
            guard size > 0 else { continue }
            #expect(throws: PlainFile.Fault.tooLong(limit: size - 1)) { try PlainFile(path, atMost: size - 1) }
        }
        #expect(chmod(path, 0o4751) == 0)
        #expect(try PlainFile(path, atMost: 20_000).permissions == 0o4751)
    }

    @Test("two descriptors of one file have one identity, and a descriptor that is not open has none")
    func identities() throws {
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        var descriptors: [Int32] = []
        for name in ["a", "a", "b"] { descriptors.append(open("\(scratch.path)/\(name)", O_CREAT | O_RDWR, 0o600)) }
        let identities = descriptors.map { FileIdentity(of: $0) }
        #expect(identities[0] != nil && identities[0] == identities[1] && identities[0] != identities[2])
        #expect(FileIdentity(of: -1) == nil)
        for descriptor in descriptors { close(descriptor) }
    }
}
