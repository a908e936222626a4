import Foundation
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// Commands from tools to apps.
@Suite struct AppVerbTests {
    private final class Processes: AppControl {
        var installedApps = ["com.example.Other", "com.example.Heart"]
        var done: [String] = []
        var completions: [(Result<Void, ServiceError>) -> Void] = []

        func findApps(_ completion: @escaping () -> Void) { completion() }

        func launch(
            _ name: String,
            of owner: UInt32?,
            completion: @escaping (Result<Void, ServiceError>) -> Void
        ) {
            done.append("launch \(name)")
            completions.append(completion)
        }

        func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void) {
            done.append("end \(app.name) \(app.owner) \(end)")
            completions.append(completion)
        }
    }

    private final class Process: AppProcess {
        var isOver = false
        func suspend() {}
        func resume() {}
        func end() { isOver = true }
    }

    private final class Answer {
        var results: [Result<Void, ServiceError>] = []
        var isSuccess: Bool { results.count == 1 && error == nil }
        var error: ServiceError? { if case .failure(let error)? = results.last { error } else { nil } }
    }

    private let world = ServiceWorld()

    private func perform(_ verb: AppVerb, _ name: String, of owner: UInt32? = nil, on device: TestDevice) -> Answer {
        let answer = Answer()
        device.system.perform(verb, on: name, of: owner) { answer.results.append($0) }
        return answer
    }

    @Test("behaviours 16.7, 16.8: a tool renames and removes the accessories of apps, running or not")
    func accessoriesAreManaged() {
        let phone = world.device("Phone")
        let (app, belt) = (AppIdentity(name: "com.example.Belts"), UUID())
        let accessories = phone.system.apps.accessories
        let added = SetUpAccessory(identifier: belt, name: "Belt", descriptor: AccessoryDescriptor())
        #expect(accessories.put(added, of: app) == nil)
        func change(_ verb: AccessoryVerb, _ accessory: UUID, of name: String = "com.example.Belts") -> Bool {
            if case .success = phone.system.perform(verb, on: accessory, ofApp: name) { true } else { false }
        }
        #expect(!change(.rename("Left belt"), belt, of: "com.example.Other"))
        #expect(!change(.remove, UUID()))
        #expect(change(.rename("Left belt"), belt))
        #expect(phone.system.appsStatus.accessories?.map(\.name) == ["Left belt"])
        #expect(
            phone.system.appsStatus.lines.last
                == "com.example.Belts, user 0: accessory \(belt) \"Left belt\""
        )
        #expect(change(.remove, belt))
        #expect(phone.system.appsStatus.accessories == nil)
        #expect(!change(.remove, belt))
    }

    private func added(_ owner: UInt32, on phone: TestDevice) -> UUID {
        let belt = SetUpAccessory(identifier: UUID(), name: "Belt", descriptor: AccessoryDescriptor())
        let app = AppIdentity(name: "com.example.Belts", owner: owner)
        #expect(phone.system.apps.accessories.put(belt, of: app) == nil)
        return belt.identifier
    }

    private func refusal(_ verb: AccessoryVerb, _ belt: UUID, of owner: UInt32? = nil, on phone: TestDevice) -> String?
    {
        let result = phone.system.perform(verb, on: belt, ofApp: "com.example.Belts", of: owner)
        return if case .failure(let error) = result { error.reason } else { nil }
    }

    @Test("behaviour 16.8: a name is one line of 64 characters, and a blank one is refused with the reason")
    func namesOfAccessoriesAreChecked() {
        let phone = world.device("Phone")
        let belt = added(0, on: phone)
        for blank in ["", " \n"] {
            #expect(refusal(.rename(blank), belt, on: phone) == "the name of an accessory must not be blank")
        }
        #expect(phone.system.appsStatus.accessories?.map(\.name) == ["Belt"])
        #expect(refusal(.rename("Left\nbelt\u{202E} "), belt, on: phone) == nil)
        #expect(phone.system.appsStatus.accessories?.map(\.name) == ["Left belt\u{FFFD}"])
        #expect(refusal(.rename(String(repeating: "b", count: 65)), belt, on: phone) == nil)
        #expect(phone.system.appsStatus.accessories?.map(\.name.count) == [65])
        let unknown = UUID()
        #expect(refusal(.rename("Left belt"), unknown, on: phone)?.contains("no accessory \(unknown)") == true)
    }

    @Test("behaviours 16.7, 16.8: of two users with the same app, the tool has to say whose accessory it means")
    func accessoriesBelongToUsers() {
        let phone = world.device("Phone")
        let (mine, other) = (added(1_000, on: phone), added(1_001, on: phone))
        #expect(refusal(.remove, mine, on: phone)?.contains("1000, 1001") == true)
        #expect(refusal(.remove, mine, of: 1_001, on: phone)?.contains("no accessory") == true)
        #expect(refusal(.rename("Left belt"), other, of: 1_001, on: phone) == nil)
        #expect(refusal(.remove, mine, of: 1_000, on: phone) == nil)
        #expect(phone.system.appsStatus.accessories?.map(\.name) == ["Left belt"])
        // The name belongs to one user now.
        #expect(refusal(.remove, other, on: phone) == nil)
        #expect(phone.system.appsStatus.accessories == nil)
    }

    @Test("AB-G05: an app has a limited number of accessories")
    func accessoriesAreLimited() {
        let accessories = world.device("Phone").system.apps.accessories
        func add() -> ServiceError? {
            let added = SetUpAccessory(identifier: UUID(), name: "Belt", descriptor: AccessoryDescriptor())
            return accessories.put(added, of: AppIdentity(name: "app"))
        }
        for _ in 0..<ServiceLimits.accessories.app { #expect(add() == nil) }
        #expect(add() != nil)
        #expect(accessories.accessories(of: AppIdentity(name: "app")).count == ServiceLimits.accessories.app)
    }

    @Test(
        "behaviours 9.1, 9.7: a tool moves an app to the background and foreground, and suspends it even if it requested time"
    )
    func anAppIsMoved() {
        let phone = world.device("Phone")
        let app = phone.app("Heart")
        let name = "com.example.Heart"
        #expect(perform(.background, name, on: phone).isSuccess)
        #expect(app.phase == .background)
        #expect(perform(.foreground, name, on: phone).isSuccess)
        #expect(app.phase == .foreground)
        #expect(perform(.suspend, name, on: phone).isSuccess)
        #expect(app.phase == .suspended)
        #expect(perform(.foreground, name, on: phone).isSuccess)
        #expect(app.phase == .foreground)
        app.happened(.left)
        app.happened(.asksForTime(true))
        #expect(perform(.suspend, name, on: phone).isSuccess)
        #expect(app.phase == .suspended)
        // The timer that it had does not fire again.
        #expect(perform(.foreground, name, on: phone).isSuccess)
        world.run(.seconds(300))
        #expect(app.phase == .foreground)
    }

    @Test("behaviour 9.18: a tool starts a Live Activity of an app in the foreground, and ends it wherever the app is")
    func liveActivities() {
        let phone = world.device("Phone")
        let app = phone.app("Heart")
        let name = "com.example.Heart"
        func line() -> String { phone.system.status.apps.first?.lines.first ?? "" }
        #expect(perform(.endLiveActivity, name, on: phone).error?.reason == "\"\(name)\" has no Live Activity")
        #expect(perform(.background, name, on: phone).isSuccess)
        #expect(perform(.startLiveActivity, name, on: phone).error?.reason?.contains("foreground") == true)
        #expect(!line().contains("Live Activity"))
        #expect(perform(.foreground, name, on: phone).isSuccess)
        #expect(perform(.startLiveActivity, name, on: phone).isSuccess)
        #expect(perform(.background, name, on: phone).isSuccess)
        #expect(line().contains(", with a Live Activity,"))
        #expect(perform(.endLiveActivity, name, on: phone).isSuccess)
        #expect(!app.hasActivity)
    }

    @Test("an unmanaged app or one that is not running cannot be moved, which is an error")
    func unmanagedAppsCannotBeMoved() {
        let phone = world.device("Phone")
        let app = phone.system.openApp(AppIdentity(name: "test"))
        let unmanaged = perform(.suspend, "test", on: phone)
        #expect(unmanaged.error?.code == .core(.operationNotSupported))
        #expect(app.phase == .foreground)
        #expect(perform(.foreground, "nobody", on: phone).error?.code == .core(.unknownDevice))
        #expect(perform(.terminate, "nobody", on: phone).error?.code == .core(.unknownDevice))
    }

    @Test("an unimplemented command is an error, and the app continues")
    func withoutProcesses() {
        let phone = world.device("Phone")
        let app = phone.app("Heart")
        #expect(perform(.launch, "com.example.Heart", on: phone).error?.code == .core(.operationNotSupported))
        #expect(perform(.forceQuit, "com.example.Heart", on: phone).error?.code == .core(.operationNotSupported))
        #expect(app.phase == .foreground)
    }

    @Test("the process manager launches and ends apps, and the tool gets the result")
    func withProcesses() {
        let phone = world.device("Phone")
        let processes = Processes()
        phone.system.appControl = processes
        let launched = perform(.launch, "com.example.Heart", on: phone)
        #expect(launched.results.isEmpty)
        processes.completions[0](.failure(ServiceError(.unknown, reason: "no such file")))
        #expect(launched.error?.reason == "no such file")
        let apps = (1...2).map { _ in phone.system.openApp(AppIdentity(name: "a", owner: 1)) }
        let ended = perform(.terminate, "a", on: phone)
        #expect(processes.done.suffix(2) == ["end a 1 removedFromMemory", "end a 1 removedFromMemory"])
        processes.completions[1](.success(()))
        #expect(ended.results.isEmpty)
        processes.completions[2](.success(()))
        #expect(ended.isSuccess)
        #expect(phone.system.appsStatus.installed == ["com.example.Heart", "com.example.Other"])
        withExtendedLifetime(apps) {}
    }

    @Test("AB-G07: a tool names the user of an app when two users have one of that name")
    func ambiguousAppsRequireAUser() {
        let phone = world.device("Phone")
        let apps = ([1, 2] as [UInt32]).map { owner -> InProcessConnection in
            let app = phone.system.openApp(AppIdentity(name: "a", owner: owner), declaring: AppDeclaration())
            app.runs(in: Process())
            return app
        }
        for verb in [AppVerb.background, .terminate, .forceQuit, .revokePermission, .resetPermission] {
            let error = perform(verb, "a", on: phone).error
            #expect(
                error?.reason?.contains("users 1, 2") == true && error?.reason?.contains("--user") == true,
                "\(verb)"
            )
        }
        #expect(apps.allSatisfy { $0.phase == .foreground })
        #expect(phone.system.apps.permissions.decisions.isEmpty)
        #expect(perform(.revokePermission, "a", of: 2, on: phone).isSuccess)
        #expect(apps.map(\.phase) == [.foreground, .notRunning(.removedFromMemory)])
        #expect(phone.system.apps.permission(of: AppIdentity(name: "a", owner: 2)) == .denied)
        #expect(phone.system.apps.permission(of: AppIdentity(name: "a", owner: 1)) == .allowedAlways)
        let shown = phone.system.appsStatus.permissions
        #expect(shown == [PermissionStatus(app: "a", owner: 2, permission: "denied", executable: nil)])
        #expect(perform(.resetPermission, "a", of: 2, on: phone).isSuccess)
        #expect(phone.system.apps.permissions.decisions.isEmpty)
        // A running app is preferred; for an unknown name, the command applies to the app of the service's own user.
        #expect(perform(.background, "a", on: phone).isSuccess && apps[0].phase == .background)
        #expect(perform(.revokePermission, "later", on: phone).isSuccess)
        #expect(phone.system.apps.permission(of: AppIdentity(name: "later", owner: 0)) == .denied)
    }

    @Test(
        "behaviour 10.16: an app that is force-quit leaves nothing behind, and one removed from memory leaves its preserved state"
    )
    func forceQuitDiscardsPreservedState() {
        let phone = world.device("Phone")
        for (verb, isKept) in [(AppVerb.terminate, true), (.forceQuit, false)] {
            let (app, process) = (phone.app("Heart", [.central]), Process())
            app.runs(in: process)
            let manager = phone.manager(.central, of: app, restoring: "heart")
            #expect(perform(verb, "com.example.Heart", on: phone).isSuccess)
            #expect(process.isOver)
            #expect(phone.system.apps.preservation.apps.isEmpty == !isKept)
            _ = manager
        }
        // The preserved state of an app that is not running is removed too.
        let app = phone.app("Heart", [.central])
        let manager = phone.manager(.central, of: app, restoring: "heart")
        app.happened(.ended(.crashed))
        #expect(!phone.system.apps.preservation.apps.isEmpty)
        #expect(perform(.terminate, "com.example.Heart", on: phone).error != nil)
        #expect(!phone.system.apps.preservation.apps.isEmpty)
        #expect(perform(.forceQuit, "com.example.Heart", on: phone).isSuccess)
        #expect(phone.system.apps.preservation.apps.isEmpty)
        _ = manager
    }

    @Test("a permission that no app has cannot be reset, which is an error")
    func permissionOfNoApp() {
        let phone = world.device("Phone")
        #expect(perform(.resetPermission, "nothing", on: phone).error?.reason?.contains("no app \"nothing\"") == true)
        let processes = Processes()
        phone.system.appControl = processes
        #expect(perform(.resetPermission, "com.example.Other", on: phone).isSuccess)
    }

    @Test("an app can be named by its executable, unless that is the name of another app or fits several")
    func nameOfTheExecutable() {
        let phone = world.device("Phone")
        func open(_ name: String, _ executable: String) -> InProcessConnection {
            let program = AppProgram("/usr/bin/\(executable)")
            let app = phone.system.openApp(AppIdentity(name: name), declaring: AppDeclaration(), of: program)
            app.runs(in: Process())
            return app
        }
        let heart = open("com.example.Heart", "heart-rate")
        #expect(perform(.background, "heart-rate", on: phone).isSuccess)
        #expect(heart.phase == .background)
        #expect(phone.system.appsStatus.lines(of: "heart-rate", nil).first?.contains("com.example.Heart") == true)
        #expect(phone.system.appsStatus.lines(of: "rate", nil).isEmpty)
        let other = open("com.example.Other", "heart-rate")
        let error = perform(.foreground, "heart-rate", on: phone).error
        #expect(error?.reason?.contains("\"com.example.Heart\" and \"com.example.Other\"") == true)
        let named = open("heart-rate", "something")
        #expect(perform(.background, "heart-rate", on: phone).isSuccess)
        #expect([heart.phase, other.phase, named.phase] == [.background, .foreground, .background])
    }

    @Test("AB-G05: requests that wait for the process manager are bounded")
    func queuedRequestsAreBounded() {
        let phone = world.device("Phone")
        let processes = Processes()
        phone.system.appControl = processes
        var replies: [ToolReply] = []
        let tool = ToolConversation(system: phone.system, rights: .control) { replies.append($0) }
        for number in 0...UInt32(ToolConversation.maximumPending) {
            tool.handle(.ask(number: number, .app(.launch, name: "a")))
        }
        #expect(processes.done.count == ToolConversation.maximumPending)
        #expect(replies.count == 1)
        for completion in processes.completions {
            completion(.success(()))
            completion(.success(()))
        }
        #expect(replies.count == ToolConversation.maximumPending + 1)
        processes.completions = []
        tool.handle(.ask(number: 0, .app(.launch, name: "a")))
        tool.close()
        for completion in processes.completions { completion(.success(())) }
        #expect(replies.count == ToolConversation.maximumPending + 1)
    }
}
