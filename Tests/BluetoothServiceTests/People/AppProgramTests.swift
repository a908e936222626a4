import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// A name does not identify an app: what another program with the same name must not take over (AB-G07).
@Suite struct AppProgramTests {
    private let identity = AppIdentity(name: "com.example.App", owner: 1_000)
    private let scan = ScanRequest(services: [0x180D])

    private final class Troubles {
        var texts: [String] = []
    }

    private final class Person: PermissionPrompter {
        var asked: [AppQuestion] = []
        var answers: [(Bool) -> Void] = []

        func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
            asked.append(question)
            answers.append(answer)
        }
    }

    private func open(
        _ program: AppProgram,
        on device: TestDevice,
        usage: String? = nil
    ) -> (app: InProcessConnection, manager: TestManager) {
        let declaration = AppDeclaration(usageDescription: usage, backgroundModes: .central)
        let app = device.system.openApp(identity, declaring: declaration, of: program)
        return (app, device.manager(.central, of: app, restoring: "one"))
    }

    private func troubles(of device: TestDevice) -> Troubles {
        let troubles = Troubles()
        device.system.observers.add(.trouble) {
            if case .trouble(let text, _) = $0.content { troubles.texts.append(text) }
        }
        return troubles
    }

    @Test(
        "AB-G07: preserved state goes to the same program, to one that the service launched, or if no program is recorded",
        arguments: [
            ("/bin/a", AppProgram("/bin/a"), true), ("/bin/a", AppProgram("/bin/b", isLaunched: true), true),
            ("/bin/a", AppProgram(), true), (nil, AppProgram("/bin/b"), true), ("/bin/a", AppProgram("/bin/b"), false),
        ]
    )
    func restoreWithoutManager(first: String?, second: AppProgram, isGiven: Bool) {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        let troubles = troubles(of: phone)
        let old = open(AppProgram(first), on: phone)
        old.manager.send(.startScan(scan))
        world.run(.seconds(1))
        old.app.happened(.ended(.crashed))
        let new = open(second, on: phone)
        world.run(.seconds(1))
        let restored = Event.central(.willRestore(RestoredCentral(scan: scan, peers: [])))
        #expect(new.manager.take() == (isGiven ? [restored] : []) + [.stateChanged(.poweredOn)])
        #expect(phone.system.apps.preservation.apps.isEmpty)
        #expect(phone.system.centrals.count == 1)
        #expect(phone.system.centrals.first?.scans == isGiven)
        #expect(troubles.texts.count == (isGiven ? 0 : 1))
        if let text = troubles.texts.first { #expect(text.contains("/bin/a") && text.contains("/bin/b")) }
    }

    @Test("AB-G07: the program of an app is remembered across a restart", arguments: ["/bin/a", "/bin/b"])
    func afterARestart(executable: String) {
        let bench = RecordBench()
        let first = open(AppProgram("/bin/a"), on: bench.phone)
        first.manager.send(.startScan(scan))
        bench.world.run(.seconds(1))
        #expect(bench.written.first?.executable == "/bin/a")
        bench.restart()
        let second = open(AppProgram(executable), on: bench.phone)
        bench.world.run(.seconds(1))
        #expect(second.manager.take().count == (executable == "/bin/a" ? 2 : 1))
        #expect(bench.written.first?.executable == executable)
    }

    @Test("AB-G07: a permission applies to the program shown, and another program causes another question")
    func permission() throws {
        let world = ServiceWorld()
        let person = Person()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        phone.system.apps.permissions.prompter = person
        let troubles = troubles(of: phone)
        let first = open(AppProgram("/bin/a"), on: phone, usage: "To see")
        person.answers[0](true)
        world.run(.seconds(1))
        #expect(first.manager.take() == [.stateChanged(.poweredOn)])
        first.app.happened(.ended(.forceQuit))
        for program in [AppProgram("/bin/a"), AppProgram()] {
            let again = open(program, on: phone, usage: "To see")
            world.run(.seconds(1))
            #expect(again.manager.take() == [.stateChanged(.poweredOn)])
            #expect(person.asked.count == 1)
            again.app.happened(.ended(.forceQuit))
        }
        let other = open(AppProgram("/bin/b"), on: phone, usage: "To see")
        world.run(.seconds(1))
        #expect(other.manager.take().isEmpty)
        #expect(person.asked.map(\.executable) == ["/bin/a", "/bin/b"])
        #expect(person.asked.last?.owner == 1_000)
        #expect(troubles.texts.count == 1)
        try #require(person.answers.count == 2)
        // A refusal applies to all of them.
        person.answers[1](false)
        let third = open(AppProgram("/bin/c"), on: phone, usage: "To see")
        world.run(.seconds(1))
        #expect(third.manager.take() == [.stateChanged(.unauthorized)])
        #expect(person.asked.count == 2)
    }

    @Test("AB-G07: each text of a question is one bounded line, whatever an app supplies")
    func questions() {
        let hostile = "a\n\u{1B}[2J\u{202E}b\t\t c\u{3164}\u{200D}" + String(repeating: "x", count: 5_000)
        let question = AppQuestion(
            AppIdentity(name: hostile, owner: 7),
            displayName: hostile,
            usage: hostile,
            executable: hostile
        )
        let texts = [question.identifier, question.displayName, question.usage, question.executable].compactMap(\.self)
        #expect(texts.count == 4)
        #expect(texts.allSatisfy { $0 == $0.visible && $0.hasPrefix("a \u{FFFD}[2J\u{FFFD}b c \u{FFFD}xx") })
        #expect(texts.map(\.unicodeScalars.count) == [65, 65, 201, 257])
    }
}
