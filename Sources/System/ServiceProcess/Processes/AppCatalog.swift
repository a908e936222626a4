import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// The launch commands of installed apps, as last read from the directory of apps. The files are read on another
/// thread, so that a slow or hostile file system delays nothing else. Used on the event loop.
final class AppCatalog {
    /// How long a caller waits for a read before it proceeds with the previous result. This bounds the number of
    /// waiting callers by the number of questions that tools may have pending.
    static let readTimeout = Duration.seconds(5)

    private struct Caller {
        /// The first read that began after the call.
        let read: UInt64
        let completion: () -> Void
        let timer: ScheduledTask
    }

    /// The launch command of each app, by bundle identifier.
    private(set) var commands: [String: [String]] = [:]

    private let readDirectories: (@Sendable () -> [String: [String]])?
    private let loop: any EventLoop
    private var callers: [UInt64: Caller] = [:]
    private var lastCaller: UInt64 = 0
    private var lastRead: UInt64 = 0
    private var isReading = false

    /// Creates a catalog, and starts to read the directory. Call on the event loop.
    ///
    /// - Parameter readDirectories: Reads the directory, on another thread. Without it, the catalog stays empty.
    init(loop: any EventLoop, _ readDirectories: (@Sendable () -> [String: [String]])?) {
        self.readDirectories = readDirectories
        self.loop = loop
        read()
    }

    /// Reads the directory again. `completion` is called once, on the event loop: after a read that began after this
    /// call, or after ``readTimeout``.
    func refresh(_ completion: @escaping () -> Void) {
        guard readDirectories != nil else { return completion() }
        lastCaller += 1
        let number = lastCaller
        let timer = loop.schedule(after: Self.readTimeout) { [weak self] in
            self?.callers.removeValue(forKey: number)?.completion()
        }
        callers[number] = Caller(read: lastRead + 1, completion: completion, timer: timer)
        if !isReading { read() }
    }

    private func read() {
        guard let readDirectories else { return }
        isReading = true
        lastRead += 1
        let catalog = LoopBound(self, loop: loop)
        SideQueue.run {
            let commands = readDirectories()
            catalog.loop.submit { catalog.value.finish(commands) }
        }
    }

    private func finish(_ new: [String: [String]]) {
        commands = new
        isReading = false
        let done = callers.filter { $0.value.read <= lastRead }.sorted { $0.key < $1.key }
        for (number, caller) in done {
            callers[number] = nil
            loop.cancel(caller.timer)
        }
        if !callers.isEmpty { read() }
        for (_, caller) in done { caller.completion() }
    }
}

/// The apps in a directory. Each is a directory with an `Info.plist` that contains the app's identifier and launch
/// command.
package struct InstalledApps: Hashable, Sendable {
    /// The maximum number of apps that are read (AB-G05).
    static let maximumApps = 256
    /// The maximum size of an `Info.plist`, in octets.
    static let maximumOctets = 1 << 20

    private let directory: String

    /// Creates the list of apps in a directory, which need not exist.
    package init(directory: String) {
        self.directory = directory
    }

    /// Returns the launch command of each app that has one, by bundle identifier. Blocks on the file system.
    func commands() -> [String: [String]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var commands: [String: [String]] = [:]
        for name in names.sorted().prefix(Self.maximumApps) {
            guard let (app, command) = Self.app(of: "\(directory)/\(name)/Info.plist") else { continue }
            // The first of several apps with the same identifier counts.
            if commands[app] == nil { commands[app] = command }
        }
        return commands
    }

    private static func app(of path: String) -> (name: String, command: [String])? {
        guard let file = try? PlainFile(path, atMost: maximumOctets),
            let list = try? PropertyList.dictionary(file.octets),
            let name = list["CFBundleIdentifier"] as? String, !name.isEmpty
        else { return nil }
        let command = AppDeclaration(propertyList: list).launchCommand
        return command.isEmpty ? nil : (name, command)
    }
}
