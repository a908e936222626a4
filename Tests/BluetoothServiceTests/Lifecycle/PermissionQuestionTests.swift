import ServiceMessages
import Testing

@testable import BluetoothService

/// The question of whether an app may use Bluetooth.
@Suite struct PermissionQuestionTests {
    private final class Person: PermissionPrompter {
        var asked: [String] = []
        var answers: [(Bool) -> Void] = []

        func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
            asked.append("\(question.displayName ?? question.identifier): \(question.usage ?? "-")")
            answers.append(answer)
        }
    }

    private let world = ServiceWorld()
    private let person = Person()

    private func device() -> TestDevice {
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        phone.system.apps.permissions.prompter = person
        return phone
    }

    @Test(
        "behaviour 1.18: the first manager of either role triggers the permission question, once, and the answer is stored",
        arguments: [false, true]
    )
    func theFirstManagerMakesTheSystemAsk(isAllowed: Bool) throws {
        let phone = device()
        let app = phone.app("Heart", usage: "To read your belt")
        let managers = [phone.manager(.peripheral, of: app), phone.manager(.central, of: app)]
        #expect(person.asked == ["Heart: To read your belt"])
        world.run(.seconds(60))
        #expect(managers.allSatisfy { $0.take().isEmpty })
        person.answers[0](isAllowed)
        world.run(.zero)
        let state: Event = .stateChanged(isAllowed ? .poweredOn : .unauthorized)
        #expect(managers.allSatisfy { $0.take() == [state] })
        // A second answer has no effect, and the question is not asked again, even after a relaunch.
        person.answers[0](!isAllowed)
        let again = phone.manager(.central, of: phone.app("Heart", usage: "To read your belt"))
        world.run(.zero)
        #expect(again.take() == [state])
        #expect(person.asked.count == 1)
    }

    @Test("behaviour 1.18: resetting a permission triggers the question again")
    func resetPermissionsAreAskedForAgain() {
        let phone = device()
        let app = phone.app("Heart", usage: "To read your belt")
        let first = phone.manager(.central, of: app)
        person.answers[0](false)
        phone.system.apps.permissions.reset(AppIdentity(name: "com.example.Heart"))
        let second = phone.manager(.central, of: app)
        #expect(person.asked.count == 2)
        person.answers[1](true)
        world.run(.zero)
        #expect(first.take().last == .stateChanged(.poweredOn))
        #expect(second.take() == [.stateChanged(.poweredOn)])
    }

    @Test("behaviour 1.19: an app without a usage description crashes when it first uses Bluetooth")
    func anAppThatDoesNotSayWhatForCrashes() {
        let phone = device()
        let app = phone.app("Heart")
        let manager = phone.manager(.central, of: app)
        world.run(.seconds(1))
        #expect(app.phase == .notRunning(.crashed))
        #expect(person.asked.isEmpty)
        #expect(manager.take().isEmpty)
    }

    @Test("behaviour 1.18: the user is also asked about a process without a declaration")
    func ofAProcessThatDeclaresNothing() {
        let phone = device()
        _ = phone.manager(.central)
        #expect(person.asked == ["test: -"])
    }
}
