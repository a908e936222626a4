import BluetoothTypes
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// The kinds of processes: what declares them, and their rules for the background, prompts and restoration.
@Suite struct ProcessKindTests {
    private static let transport = ProcessKind.appExtension(point: ProcessKind.transportExtensionPoint)

    @Test("behaviours 9.19 to 9.21: a property list declares the kind of a process, as on Apple's systems")
    func declarations() {
        func kind(_ list: [String: Any], isManaged: Bool = false) -> ProcessKind {
            AppDeclaration(propertyList: list, isManaged: isManaged).kind
        }
        let point = ProcessKind.transportExtensionPoint
        #expect(kind(["CFBundleIdentifier": "com.example.Heart"]) == .app)
        #expect(kind(["CFBundlePackageType": "APPL"]) == .app)
        #expect(kind([:], isManaged: true) == .app)
        #expect(kind([:]) == .commandLineProgram)
        #expect(kind(["CFBundleIdentifier": "a", "HaraldOnMac": true]) == .iOSAppOnMac)
        #expect(kind(["EXAppExtensionAttributes": ["EXExtensionPointIdentifier": point]]) == Self.transport)
        let older = ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"]
        #expect(kind(["NSExtension": older]) == .appExtension(point: "com.apple.widgetkit-extension"))
        #expect(kind(["CFBundlePackageType": "XPC!", "CFBundleIdentifier": "a"]) == .appExtension(point: ""))
        #expect(kind(["NSExtension": ["NSExtensionPointIdentifier": 7]]) == .appExtension(point: ""))
        #expect(kind(["CFBundlePackageType": "FMWK"]) == .other(packageType: "FMWK"))
        // What has another type counts as missing.
        #expect(kind(["NSExtension": 7, "CFBundlePackageType": 7, "HaraldOnMac": "yes"]) == .commandLineProgram)
    }

    @Test(
        "behaviour 9.20: a process of a kind without Bluetooth is refused, and learns why",
        arguments: [
            (ProcessKind.appExtension(point: "com.apple.widgetkit-extension"), "\"com.apple.widgetkit-extension\""),
            (.appExtension(point: "com.apple.accessory-data-provider"), "\"com.apple.accessory-data-provider\""),
            (.appExtension(point: ""), "app extension for \"\""), (.other(packageType: "FMWK"), "\"FMWK\""),
        ] as [(ProcessKind, String)]
    )
    func refusedKinds(kind: ProcessKind, text: String) {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        var misuse: [String] = []
        phone.system.observers.add(.misuse) { if case .misused(let text, _) = $0.content { misuse.append(text) } }
        let app = phone.system.openApp(AppIdentity(name: "app"), declaring: AppDeclaration(kind: kind))
        let manager = phone.manager(.central, of: app)
        manager.send(.startScan(ScanRequest(services: [Example.service])))
        world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(.unsupported)])
        #expect(!phone.controller.isScanning)
        #expect(misuse.count == 1)
        #expect(misuse.allSatisfy { $0.contains(text) }, "\(misuse)")
    }

    // MARK: Background

    @Test("behaviour 9.19: in an iPad app on a Mac, background modes have no effect", arguments: [false, true])
    func backgroundModesOnAMac(isOnMac: Bool) throws {
        let world = ServiceWorld()
        let (phone, strap) = (world.device("Phone"), world.device("Strap"))
        let sensor = strap.manager(.peripheral)
        try sensor.publish()
        let modes: AppDeclaration.BackgroundModes = [.central, .peripheral]
        let app = phone.system.openApp(
            AppIdentity(name: "app"),
            declaring: AppDeclaration(backgroundModes: modes, kind: isOnMac ? .iOSAppOnMac : .app)
        )
        let (central, peripheral) = (phone.manager(.central, of: app), phone.manager(.peripheral, of: app))
        try peripheral.publish(Example.emptyBattery)
        central.send(.startScan(ScanRequest(services: [Example.service], allowsDuplicates: true)))
        world.run(.seconds(1))
        #expect(phone.controller.isScanning)
        #expect(phone.controller.isAdvertising)
        app.happened(.left)
        world.run(.seconds(1))
        #expect(phone.controller.isAdvertising == !isOnMac)
        world.run(AppLifecycle.grace)
        #expect(phone.controller.isScanning == !isOnMac)
        #expect(app.phase == .suspended)
        app.happened(.entered)
        world.run(.seconds(1))
        #expect(phone.controller.isScanning)
        #expect(phone.controller.isAdvertising)
        withExtendedLifetime(sensor) {}
    }

    @Test("behaviour 9.20: a transport extension is in the background, with the modes that it declares")
    func extensionsAreInTheBackground() throws {
        let world = ServiceWorld()
        let (phone, strap) = (world.device("Phone"), world.device("Strap"))
        let sensor = strap.manager(.peripheral)
        try sensor.publish()
        let app = phone.transportExtension()
        let manager = phone.manager(.central, of: app)
        #expect(app.phase == .background)
        // Nothing brings it to the front.
        app.happened(.entered)
        #expect(app.enter())
        #expect(app.phase == .background)
        app.happened(.liveActivity(true))
        #expect(!app.hasActivity)
        manager.send(.startScan(ScanRequest(services: nil)))
        world.run(.seconds(2))
        #expect(manager.take().compactMap(\.discovery).isEmpty)
        let peer = try manager.find().identifier
        try manager.connect(peer)
        world.run(AppLifecycle.wakeTime + .seconds(5))
        #expect(app.phase == .suspended)
        strap.controller.loseLinks(.connectionTimeout)
        _ = try manager.expect("disconnected", \.disconnection)
        #expect(app.phase == .background)
        // What declares no mode is not woken.
        let other = phone.system.openApp(AppIdentity(name: "a.b"), declaring: AppDeclaration(kind: Self.transport))
        let idle = phone.manager(.central, of: other)
        world.run(.seconds(20))
        #expect(other.phase == .suspended)
        withExtendedLifetime((idle, sensor)) {}
    }

    @Test("behaviour 9.21: a command-line program is always in the foreground, whatever it declares")
    func programsAreInTheForeground() {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        let declaration = AppDeclaration(isManaged: true, kind: .commandLineProgram)
        let app = phone.system.openApp(AppIdentity(name: "tool"), declaring: declaration, inBackground: true)
        let manager = phone.manager(.central, of: app)
        manager.send(.startScan(ScanRequest(services: nil, allowsDuplicates: true)))
        app.happened(.left)
        world.run(.seconds(60))
        #expect(app.phase == .foreground)
        #expect(phone.controller.isScanning)
    }

    // MARK: Prompts

    private final class Prompter: PermissionPrompter {
        private(set) var questions: [AppQuestion] = []

        func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
            questions.append(question)
            answer(true)
        }
    }

    @Test("behaviour 9.20: an extension shows no prompt, and has the permission of its app")
    func extensionsHaveThePermissionOfTheirApp() {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let prompter = Prompter()
        phone.system.apps.permissions.prompter = prompter
        let manager = phone.manager(.central, of: phone.transportExtension())
        world.run(.seconds(1))
        #expect(prompter.questions.isEmpty)
        #expect(manager.take().isEmpty)
        let app = phone.manager(.central, of: phone.app("Heart", usage: "To read your belt"))
        world.run(.seconds(1))
        #expect(prompter.questions.map(\.identifier) == ["com.example.Heart"])
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Heart"))
        world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(.unauthorized)])
        withExtendedLifetime(app) {}
    }

    @Test(
        "behaviour 9.21: a prompt about a command-line program has no text, and the program does not crash without one"
    )
    func promptsAboutPrograms() {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let prompter = Prompter()
        phone.system.apps.permissions.prompter = prompter
        let app = phone.system.openApp(AppIdentity(name: "tool"), declaring: AppDeclaration(kind: .commandLineProgram))
        let manager = phone.manager(.central, of: app)
        world.run(.seconds(1))
        #expect(prompter.questions.map(\.usage) == [nil])
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        #expect(app.phase == .foreground)
    }

    // MARK: Restoration

    @Test("behaviour 9.21: of a command-line program nothing is saved, unless it has a launch command")
    func programsAreNotRecorded() {
        var declaration = AppDeclaration(kind: .commandLineProgram)
        #expect(!declaration.isRecorded)
        declaration.launchCommand = ["/usr/bin/tool"]
        #expect(declaration.isRecorded)
        #expect(AppDeclaration(kind: Self.transport).isRecorded)
    }

    // MARK: Tools

    @Test("behaviours 9.19, 9.20: tools show the kind of a process, and bring no extension to the front")
    func toolsShowTheKind() {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        let apps = [
            phone.transportExtension(),
            phone.system.openApp(AppIdentity(name: "pad"), declaring: AppDeclaration(kind: .iOSAppOnMac)),
            phone.system.openApp(AppIdentity(name: "tool")), phone.app("Heart"),
        ]
        let status = phone.system.status.apps.sorted { $0.name < $1.name }
        #expect(status.map(\.kind) == [nil, "appExtension", "iOSAppOnMac", nil])
        #expect(status[1].lines[0].contains(", background, appExtension,"))
        let (app, name) = (apps[0], "com.example.Heart.transport")
        app.runs(in: SilentProcess())
        var result: Result<Void, ServiceError>?
        phone.system.perform(.foreground, on: name) { result = $0 }
        world.run(.seconds(1))
        let reason = if case .failure(let error)? = result { error.reason } else { nil as String? }
        #expect(reason?.contains("no foreground") == true)
        withExtendedLifetime(apps) {}
    }

    private final class SilentProcess: AppProcess {
        func suspend() {}
        func resume() {}
        func end() {}
    }
}
