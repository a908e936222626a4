import EventLoops
import Foundation
import HCITransports
import Synchronization
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The directory of apps, which is read off the loop.
@Suite struct AppCatalogTests {
    @Test(
        "AB-G05: a directory that does not respond delays callers for five seconds at most, and the known apps stay"
    )
    func aDirectoryThatDoesNotAnswer() {
        let loop = VirtualEventLoop()
        let mayEnd = DispatchSemaphore(value: 0)
        let catalog = AppCatalog(loop: loop) {
            mayEnd.wait()
            return ["a": ["/a"]]
        }
        var answers = 0
        for _ in 0..<10 { catalog.refresh { answers += 1 } }
        loop.run(for: .milliseconds(4_990))
        #expect(answers == 0)
        loop.run(for: .milliseconds(10))
        #expect(answers == 10)
        #expect(catalog.commands.isEmpty)
        // A single thread waits, whatever the number of callers.
        mayEnd.signal()
    }

    @Test("a caller gets the content at the time of its call, even if a read was in progress")
    func callersGetTheContentOfTheirCall() async {
        let loop = NIOEventLoop()
        let content = Mutex(["a": ["/a"]])
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reads = Atomic(0)
        let commands: [[String: [String]]] = await withCheckedContinuation { continuation in
            loop.submit {
                let catalog = AppCatalog(loop: loop) {
                    let found = content.withLock { $0 }
                    if reads.add(1, ordering: .relaxed).newValue == 1 {
                        hasBegun.signal()
                        mayEnd.wait()
                    }
                    return found
                }
                hasBegun.wait()
                // The first read has already listed the directory, and is not finished.
                content.withLock { $0 = ["b": ["/b"]] }
                var heard: [[String: [String]]] = []
                for _ in 0..<2 {
                    catalog.refresh {
                        heard.append(catalog.commands)
                        if heard.count == 2 { continuation.resume(returning: heard) }
                    }
                }
                mayEnd.signal()
            }
        }
        #expect(commands == [["b": ["/b"]], ["b": ["/b"]]])
        #expect(reads.load(ordering: .relaxed) == 2)
    }

    @Test("AB-G05: pipes, directories and endless lists do not hide an app")
    func hostileNeighbours() throws {
        let scratch = TemporaryDirectory.uncreated()
        for name in ["a", "b", "c", "d"] {
            try FileManager.default.createDirectory(
                atPath: "\(scratch.path)/\(name)",
                withIntermediateDirectories: true
            )
        }
        #expect(mkfifo("\(scratch.path)/a/Info.plist", 0o600) == 0)
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/b/Info.plist",
            withIntermediateDirectories: true
        )
        let deep = "<plist>" + String(repeating: "<array>", count: 100_000)
        try Data(deep.utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/c/Info.plist"))
        let list: [String: Any] = ["CFBundleIdentifier": "com.example.d", "HaraldLaunch": ["/bin/d"]]
        let octets = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try octets.write(to: URL(fileURLWithPath: "\(scratch.path)/d/Info.plist"))
        #expect(InstalledApps(directory: scratch.path).commands() == ["com.example.d": ["/bin/d"]])
    }
}
