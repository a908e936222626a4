import EventLoops
import Foundation
import HCIHost
import Logging
import SampleMessages
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService

/// Failures appear in the log, at a level that a service writes, and in the status.
@Suite struct TroubleTests {
    private let log = LogLines()
    private let world = ServiceWorld()

    private var logger: Logger {
        var logger = Logger(label: "test") { _ in log }
        logger.logLevel = .notice
        return logger
    }

    /// Checks the latest entries of the log and of the status, each with its level, newest first.
    private func check(
        _ device: TestDevice,
        _ weight: String,
        _ text: String,
        count: Int = 1,
        lines: Int = 1
    ) throws {
        let troubles = device.system.status.troubles
        let trouble = try #require(troubles.first { $0.text.contains(text) }, "\(troubles)")
        #expect(trouble.weight == weight && trouble.count == count, "\(trouble)")
        #expect(log.all.count { $0.hasPrefix("\(weight): ") && $0.contains(text) } == lines, "\(log.all)")
    }

    private func directory(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        try withExtendedLifetime(directory) { try body(directory.path) }
    }

    @Test("a damaged secret is an error in log and status")
    func aDamagedSecret() throws {
        try directory { path in
            let secret = FileManager.default.createFile(
                atPath: "\(path)/secret",
                contents: Data([1, 2, 3]),
                attributes: [.posixPermissions: 0o600]
            )
            #expect(secret)
            let phone = world.device("Phone", logger: logger) { $0.store = .directory(path) }
            try check(phone, "error", "\(path)/secret is damaged")
        }
    }

    @Test("a missing controller is a trouble until one works, and the status says it in one line")
    func aMissingController() throws {
        var list = TroubleList()
        func add(_ content: Observation.Content) {
            list.add(Observation(number: 1, time: .zero, cause: nil, subject: .init(), content: content))
        }
        add(.controllerFailed(.notRunning))
        add(.trouble("the disk is full", .error))
        #expect(list.entries.count == 2)
        add(.stateChanged(.resetting))
        #expect(list.entries.count == 2)
        add(.stateChanged(.poweredOn))
        #expect(list.entries.map(\.text) == ["the disk is full"])
    }

    @Test("a damaged record is an error in log and status")
    func aDamagedRecord() throws {
        let records = MemoryRecordStorage([.permissions: [9, 9, 9]])
        let phone = world.device("Phone", logger: logger, bonds: MemoryBondStorage(records: records))
        try check(phone, "error", "permissions")
    }

    @Test(
        "a failed save is an error in log and status, counted on each repetition, and logged again after a minute"
    )
    func aSaveThatFails() throws {
        let records = MemoryRecordStorage()
        let phone = world.device("Phone", logger: logger, bonds: MemoryBondStorage(records: records))
        records.failure = .unavailable(reason: "the disk is full")
        for permission in [AppPermission.denied, .allowedAlways] {
            phone.system.apps.permissions.set(permission, for: AppIdentity(name: "a"))
            world.run(.seconds(3))
        }
        try check(phone, "error", "the disk is full", count: 2)
        world.run(LogObserver.repeatInterval)
        phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "a"))
        world.run(.seconds(3))
        try check(phone, "error", "the disk is full", count: 3, lines: 2)
    }

    @Test("a store in use by another service is an error in log and status")
    func aStoreInUse() throws {
        try directory { path in
            let first = world.device("First") { $0.store = .directory(path) }
            let second = world.device("Second", logger: logger) { $0.store = .directory(path) }
            try check(second, "error", "the saved state of apps cannot be read: the bonds in \(path) are in use")
            withExtendedLifetime(first) {}
        }
    }

    @Test("an app dropped at a limit is a warning in log and status")
    func anAppAtALimit() throws {
        let phone = world.device("Phone", logger: logger)
        for number in 0...Preservation.maximumApps {
            let app = phone.app("App\(number)")
            _ = phone.manager(.central, of: app, restoring: "one")
            app.happened(.ended(.crashed))
        }
        try check(phone, "warning", "App0 of user 0 is discarded")
    }

    @Test("AB-G05: the troubles of a status are bounded, and warnings evict no errors")
    func troublesAreBounded() {
        let phone = world.device("Phone")
        phone.system.observers.trouble("the store is gone", .error)
        for number in 0..<1_000 { phone.system.observers.trouble("peer \(number)") }
        phone.system.observers.trouble(String(repeating: "x\n", count: 100_000), .notice)
        phone.system.observers.trouble("nothing", .information)
        let troubles = phone.system.status.troubles
        #expect(troubles.count == TroubleList.maximumEntries)
        #expect(troubles.last?.text == "the store is gone")
        #expect(
            troubles.first?.text.unicodeScalars.count == TroubleList.maximumText + 1 && troubles[1].text == "peer 999"
        )
        for number in 0..<1_000 { phone.system.observers.trouble("error \(number)", .error) }
        #expect(phone.system.status.troubles.count == TroubleList.maximumEntries)
        #expect(phone.system.status.troubles.last?.text == "error 968")
    }

    @Test("a status shows its troubles to programs and users, with their count and age")
    func troublesAreShown() throws {
        let phone = world.device("Phone")
        phone.system.observers.trouble("the disk is full\u{1B}[2J", .error)
        world.run(.seconds(7))
        phone.system.observers.trouble("the disk is full\u{1B}[2J", .error)
        world.run(.seconds(5))
        let text = try #require(JSONText.of(phone.system.status))
        let status = try JSONDecoder().decode(SystemStatus.self, from: Data(text.utf8))
        #expect(status.troubles == phone.system.status.troubles)
        #expect(status.troubles.first?.count == 2)
        #expect(status.lines.suffix(2) == ["troubles:", "  error, 5 s ago, 2 times: the disk is full\u{FFFD}[2J"])
    }
}
