import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import SMP
import Security
import ServiceMessages

/// The screen of a device, and the person in front of it. Used on the loop only.
final class Attention {
    /// The person's reaction to pairing alerts, as ``SimulatedPerson/Habit``.
    enum Habit {
        case declines
        case ignores
        /// Pairs, with the codes on the screens that the function returns.
        case agrees(screens: () -> [Attention])
        case scripted(@Sendable (PairingAlert) -> PairingReaction)
    }

    typealias Answer = (PairingReaction) -> Void

    private struct Shown {
        let number: UInt64
        let link: UInt64
        let alert: PairingAlert
        let answer: Answer
        /// Whether the alert was answered. One with a code is kept until the pairing is over, since the persons at
        /// other devices may still read it.
        var isAnswered = false
    }

    var observers: [(PairingAlert) -> Void] = []
    /// Reports what the user does, in words.
    var note: (String) -> Void = { _ in }
    /// The person's answer to apps that want to use Bluetooth.
    var permits: (PermissionQuestion) -> PermissionAnswer = { _ in .deny }
    /// The questions that the person was asked, the oldest first.
    private(set) var permissionQuestions: [PermissionQuestion] = []
    /// The questions without an answer, with the functions that answer them.
    private var openQuestions: [(question: PermissionQuestion, answer: (Bool) -> Void)] = []
    /// The person's answers to the views of AccessorySetupKit.
    var manages: (AccessoryQuestion) -> PersonAnswer? = { _ in .refuse }
    /// The views of AccessorySetupKit that the person was shown, the oldest first.
    private(set) var accessoryQuestions: [AccessoryQuestion] = []
    /// The view on the screen. There is one at a time.
    private var openView: (number: UInt64, question: AccessoryQuestion, answer: (PersonAnswer) -> Void)?
    private(set) var notices: [String] = []

    /// The maximum length of a name on the screen, in Unicode scalars.
    private static let maximumName = 64
    /// The code that persons type where both devices ask for one.
    private static let agreedCode = "271828"
    private static let maximumNotices = 1_000

    private let loop: any EventLoop
    private(set) weak var system: BluetoothSystem?
    /// The name of the device, as other screens show it too.
    private let name: String
    private var habit = Habit.declines
    private var delay = Duration.zero
    private var shown: [Shown] = []
    private var lastNumber: UInt64 = 0
    /// The persons who look at this screen and wait for something to appear.
    private var viewers: [() -> Void] = []

    init(at name: String, on loop: any EventLoop) {
        self.name = name.oneLine(Self.maximumName)
        self.loop = loop
    }

    /// Connects the screen to a system, which prompts the person from now on.
    func belongs(to system: BluetoothSystem) {
        self.system = system
        system.peers.deviceSecurity.prompter = self
        system.apps.permissions.prompter = self
        system.apps.accessories.prompter = self
        system.observers.add(.notices) { [weak self] in
            if case .noticed(let notice) = $0.content { self?.record(notice.description) }
        }
    }

    /// Clears the screen when the device is switched off.
    func forgetAll() {
        shown = []
        openQuestions = []
        openView = nil
    }

    var alerts: [PairingAlert] { shown.filter { !$0.isAnswered }.map(\.alert) }

    func behaves(_ habit: Habit, after delay: Duration) {
        self.habit = habit
        self.delay = delay
    }

    func record(_ notice: String) {
        if notices.count >= Self.maximumNotices { notices.removeFirst() }
        notices.append(notice)
    }

    /// Shows an alert, in place of another one about the same link.
    func show(_ alert: PairingAlert, about link: UInt64, answer: @escaping Answer) {
        close(link)
        lastNumber += 1
        let number = lastNumber
        shown.append(Shown(number: number, link: link, alert: alert, answer: answer))
        for observer in observers { observer(alert) }
        let waiting = viewers
        viewers = []
        for look in waiting { look() }
        loop.schedule(after: delay) { [weak self] in self?.react(to: number) }
    }

    func close(_ link: UInt64) {
        shown.removeAll { $0.link == link }
    }

    private func react(to number: UInt64) {
        guard let index = shown.firstIndex(where: { $0.number == number && !$0.isAnswered }) else { return }
        let reaction = reaction(to: shown[index].alert, number)
        guard reaction != .wait else { return }
        note(reaction.words)
        shown[index].isAnswered = true
        shown[index].answer(reaction)
    }

    private func reaction(to alert: PairingAlert, _ number: UInt64) -> PairingReaction {
        switch habit {
        case .declines: return .decline
        case .ignores: return .wait
        case .scripted(let script): return script(alert)
        case .agrees(let findScreens):
            let screens = findScreens()
            switch alert.content {
            case .asksWhetherToPair, .asksWhetherToPairAnew: return .accept
            case .showsCode: return .wait
            case .asksForCode:
                let code = latestAlert(on: screens) { if case .showsCode = $0 { true } else { false } }?.code
                return code.map { .type($0) } ?? reactLater(at: screens, number)
            case .asksForCodeOnBoth:
                let other = latestAlert(on: screens) { $0 == .asksForCodeOnBoth }
                return other == nil ? reactLater(at: screens, number) : .type(Self.agreedCode)
            case .comparesCode(let mine):
                let code = latestAlert(on: screens) { if case .comparesCode = $0 { true } else { false } }?.code
                return code.map { $0 == mine ? .accept : .decline } ?? reactLater(at: screens, number)
            }
        }
    }

    /// Returns the latest alert of a kind on other screens that is about this device, as far as they name one.
    private func latestAlert(on screens: [Attention], where isWanted: (PairingAlert.Content) -> Bool) -> PairingAlert? {
        for screen in screens {
            let found = screen.shown.last { isWanted($0.alert.content) && ($0.alert.peer ?? name) == name }
            if let found { return found.alert }
        }
        return nil
    }

    /// Makes the person look again when something appears, since there is nothing to see yet.
    private func reactLater(at screens: [Attention], _ number: UInt64) -> PairingReaction {
        for screen in screens {
            screen.viewers.append { [weak self] in
                guard let self else { return }
                loop.schedule(after: delay) { [weak self] in self?.react(to: number) }
            }
        }
        return .wait
    }
}

extension Attention: PairingPrompter {
    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        let isNotification = system?.links.isInBackground(peer) ?? false
        let peerName = peer.name?.oneLine(Self.maximumName)
        let apps = system?.links.askers(of: peer).map { $0.name.oneLine(Self.maximumName) } ?? []
        let alert = PairingAlert(
            PairingAlert.Content(prompt),
            origin: peer.cause == .app ? .apps(apps) : .peer,
            peer: peerName,
            isNotification: isNotification
        )
        show(alert, about: peer.link) { reaction in
            switch reaction {
            case .accept: answer(.accept)
            case .decline: answer(.refuse)
            case .type(let digits): answer(UInt32(digits).map { .passkey($0) } ?? .refuse)
            case .wait: break
            }
        }
    }

    func closePrompt(_ peer: PromptedPeer) {
        close(peer.link)
    }
}

extension Attention: PermissionPrompter {
    func askPermission(_ asked: AppQuestion, answer: @escaping (Bool) -> Void) {
        let question = PermissionQuestion(
            app: asked.displayName ?? asked.identifier,
            identifier: asked.identifier,
            usageDescription: asked.usage
        )
        if permissionQuestions.count >= Self.maximumNotices { permissionQuestions.removeFirst() }
        permissionQuestions.append(question)
        openQuestions.append((question, answer))
        loop.schedule(after: delay) { [weak self] in self?.answerQuestions() }
    }

    /// Makes the person look at the open questions.
    func answerQuestions() {
        let open = openQuestions
        openQuestions = []
        for (question, answer) in open {
            let decision = permits(question)
            switch decision {
            case .allow, .deny:
                let allows = decision == .allow
                note("the user \(allows ? "allows" : "does not allow") \(question.app) to use Bluetooth")
                answer(allows)
            case .wait: openQuestions.append((question, answer))
            }
        }
    }
}

extension Attention: AccessoryPrompter {
    func askAboutAccessories(
        _ question: AccessoryQuestion,
        number: UInt64,
        answer: @escaping (PersonAnswer) -> Void
    ) {
        if accessoryQuestions.count >= Self.maximumNotices { accessoryQuestions.removeFirst() }
        accessoryQuestions.append(question)
        openView = (number, question, answer)
        loop.schedule(after: delay) { [weak self] in self?.answerAccessoryQuestion() }
    }

    func closeAccessoryQuestion(_ number: UInt64) { if openView?.number == number { openView = nil } }

    /// Makes the person look at the view on the screen.
    func answerAccessoryQuestion() {
        guard let (_, question, answer) = openView, let decision = manages(question) else { return }
        openView = nil
        note(question.words(for: decision))
        answer(decision)
    }

    /// Changes an accessory in the settings.
    func change(
        accessory name: String,
        of app: String,
        _ change: (SetUpAccessories, UUID, AppIdentity) -> Bool
    ) -> Bool {
        let identity = AppIdentity(name: app)
        guard let accessories = system?.apps.accessories else { return false }
        guard let found = accessories.accessories(of: identity).first(where: { $0.name == name }) else { return false }
        return change(accessories, found.identifier, identity)
    }
}

extension AccessoryQuestion {
    /// What the user does, in words.
    fileprivate func words(for answer: PersonAnswer) -> String {
        let name = app.displayName ?? app.identifier
        switch answer {
        case .choose(let identifier):
            let chosen = offers.first { $0.identifier == identifier }?.name ?? "\(identifier)"
            return "the user chooses \(chosen) for \(name)"
        case .name(let text): return "the user names the accessory of \(name) \(text)"
        case .accept: return "the user agrees to what \(name) does with accessories"
        case .refuse, .passkey, .allow, .deny: return "the user cancels the view of \(name) about accessories"
        }
    }
}

extension PairingAlert.Content {
    fileprivate init(_ prompt: PairingPrompt) {
        switch prompt {
        case .confirmPairing: self = .asksWhetherToPair
        case .confirmReplacement: self = .asksWhetherToPairAnew
        case .showPasskey(let code): self = .showsCode(Self.digits(code))
        case .enterPasskey: self = .asksForCode
        case .enterPasskeyOnBoth: self = .asksForCodeOnBoth
        case .compare(let code): self = .comparesCode(Self.digits(code))
        }
    }

    private static func digits(_ code: UInt32) -> String {
        let digits = String(code)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}

/// The question on a device's screen whether an app may use Bluetooth (behaviour 1.18).
public struct PermissionQuestion: Hashable, Sendable {
    /// The display name of the app, or else its identifier, as one line.
    public let app: String
    /// The identifier of the app, as one line.
    public let identifier: String
    /// The app's reason for using Bluetooth, as one line. Nil if its `Info.plist` has none (behaviour 1.19).
    public let usageDescription: String?
}

/// A person's answer to a ``PermissionQuestion``.
public enum PermissionAnswer: Hashable, Sendable {
    /// Presses "OK". The app may use Bluetooth.
    case allow
    /// Presses "Don't Allow". The app may not use Bluetooth.
    case deny
    /// Does nothing, for now or forever.
    case wait
}
