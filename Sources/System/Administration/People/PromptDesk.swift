import BluetoothService
import BluetoothTypes
import Foundation
import SMP
import Security
import ServiceEvents
import ServiceMessages

/// Routes the prompts of a system to tools whose users answer them. If there is no such tool, a ``PolicyFile`` decides,
/// and whatever it has no rule for is refused (AB-A14).
///
/// A tool that connects, such as an open page, does not replace the policy silently. Rules that refuse or have a code
/// decide as before. The log and the tool report that the other rules wait.
///
/// A pairing prompt stays open as long as the pairing waits, and the pairing closes it (behaviour 6.6). The question
/// whether an app may use Bluetooth waits until there is a prompter. Used on the loop of the system, which the desk
/// does not retain.
package final class PromptDesk {
    /// Identifies a prompter until it is removed.
    package struct Registration: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    fileprivate enum Question {
        case pairing(PairingPrompt, PromptedPeer, (PairingAnswer) -> Void)
        case permission(AppQuestion, (Bool) -> Void)
        case accessory(AccessoryQuestion, number: UInt64, (PersonAnswer) -> Void)
    }

    /// The policy that decides if there is no prompter.
    package var policy: PolicyFile {
        didSet {
            followPolicy()
            if policy != oldValue, !routing.prompters.isEmpty { reportYieldingRules() }
        }
    }

    private unowned let system: BluetoothSystem
    private var routing = PromptRouting()
    private var prompters: [UInt64: (user: UInt32?, show: (ToolReply) -> Void)] = [:]
    private var questions: [UInt64: Question] = [:]
    private var last: UInt64 = 0
    private var notices: Observers.Registration?
    var openQuestions: Int { questions.count }

    /// Creates the desk of a system, and registers it there.
    package init(_ system: BluetoothSystem, policy: PolicyFile = PolicyFile()) {
        self.system = system
        self.policy = policy
        system.apps.permissions.prompter = self
        notices = system.observers.add(.notices) { [weak self] in
            if case .noticed(let notice) = $0.content { self?.showNotice(notice.description) }
        }
        followPolicy()
    }

    private func followPolicy() {
        let policy = policy
        system.apps.permissions.rule = { policy.permission(of: $0) }
        showPresence()
    }

    /// Registers as a prompter only if a prompt could be answered: without a tool or a policy that lets devices pair,
    /// the system has no prompter and does not start such a pairing.
    private func showPresence() {
        system.apps.accessories.prompter = routing.prompters.isEmpty ? nil : self
        let isThere = !routing.prompters.isEmpty || policy.pairs
        let security = system.peers.deviceSecurity
        guard isThere != (security.prompter === self) else { return }
        security.prompter = isThere ? self : nil
    }

    // MARK: Prompters

    /// Adds a prompter, which is sent messages by `show`. It receives prompts after ``open(_:)``.
    ///
    /// - Parameter user: The user that the tool runs as; nil for one within the service's process.
    /// - Returns: The registration for the other methods, or nil if there is no place (``refusal(for:)``).
    package func add(for user: UInt32? = nil, _ show: @escaping (ToolReply) -> Void) -> Registration? {
        guard refusal(for: user) == nil else { return nil }
        last += 1
        prompters[last] = (user, show)
        return Registration(number: last)
    }

    /// Returns why there is no place for another prompter of a user, or nil if there is (AB-G05).
    func refusal(for user: UInt32?) -> ServiceError? {
        guard prompters.count < PromptRouting.maximumPrompters else {
            let most = PromptRouting.maximumPrompters
            return ServiceError(.outOfSpace, reason: "\(most) tools receive prompts already; end one first")
        }
        guard let user else { return nil }
        let users = prompters.values.compactMap(\.user)
        return ServiceLimits.prompters.refusal("tools that receive prompts", forUser: user, beside: users)
    }

    /// Starts sending prompts to a prompter that is ready for them.
    package func open(_ registration: Registration) {
        guard prompters[registration.number] != nil, !routing.prompters.contains(registration.number) else { return }
        handle(.prompterAdded(registration.number))
        showPresence()
        if routing.prompters.count == 1 { reportYieldingRules() }
    }

    private func reportYieldingRules() {
        if policy.yielding > 0 { system.observers.report(.promptsGoToTool(rules: policy.yielding)) }
    }

    /// Removes a prompter. Its prompts move to the next one.
    package func remove(_ registration: Registration) {
        guard prompters.removeValue(forKey: registration.number) != nil else { return }
        let isLast = routing.prompters == [registration.number]
        handle(.prompterRemoved(registration.number))
        showPresence()
        if isLast, policy.yielding > 0 { system.observers.report(.promptsGoToPolicy) }
    }

    /// Applies the user's answer to the prompt that this prompter was shown under `number`. An answer of the wrong kind
    /// is ignored.
    package func answer(_ number: UInt32, _ answer: PersonAnswer, by registration: Registration) {
        guard let id = routing.question(number, at: registration.number), let question = questions[id] else { return }
        guard let settle = question.settling(with: answer) else { return }
        questions[id] = nil
        _ = routing.handle(.answered(number, by: registration.number))
        settle()
    }

    private func showNotice(_ notice: String) {
        guard let newest = routing.prompters.last, let prompter = prompters[newest] else { return }
        prompter.show(.prompt(number: 0, .notice(notice)))
    }

    // MARK: Questions

    private func ask(_ question: Question, waits: Bool) {
        last += 1
        questions[last] = question
        handle(.asked(last, waits: waits))
    }

    private func handle(_ event: PromptRouting.Event) {
        for action in routing.handle(event) {
            switch action {
            case .show(let id, let number, let prompter):
                guard let question = questions[id] else { continue }
                prompters[prompter]?.show(.prompt(number: number, shown(question)))
            case .close(let number, let prompter): prompters[prompter]?.show(.promptClosed(number: number))
            case .decide(let id): decide(id)
            case .settle(let id): questions[id] = nil
            }
        }
    }

    private func decide(_ id: UInt64) {
        switch questions.removeValue(forKey: id) {
        case .pairing(let prompt, let peer, let answer):
            answer(policy.answer(to: prompt, of: peer, for: system.links.apps(of: peer).map(\.app)))
        case .permission(_, let answer): answer(false)
        case .accessory(_, _, let answer): answer(.refuse)
        case nil: break
        }
    }

    private func shown(_ question: Question) -> PersonQuestion {
        switch question {
        case .pairing(let prompt, let peer, _):
            let peerID = peer.identifier.map { UUID($0) }
            var shown = PairingQuestion(
                .init(prompt),
                peerName: peer.name?.oneLine(PairingQuestion.maximumName),
                peerAddress: "\(peer.address)",
                peer: peerID
            )
            shown.isInBackground = system.links.isInBackground(peer)
            if peer.cause == .app { shown.origin = .apps(system.links.askers(of: peer)) }
            return .pairing(shown)
        case .permission(let question, _): return .permission(question)
        case .accessory(let question, _, _): return .accessory(question)
        }
    }
}

extension PromptDesk: PairingPrompter {
    package func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        closePrompt(peer)
        let standing = policy.standingAnswer(to: prompt, of: peer, for: system.links.apps(of: peer).map(\.app))
        if !routing.prompters.isEmpty, let standing {
            let label = peer.name?.oneLine(PairingQuestion.maximumName).quotedName ?? "\(peer.address)"
            system.observers.report(.decidedByPolicy(peer: label, isRefused: standing == .refuse))
            return answer(standing)
        }
        ask(.pairing(prompt, peer, answer), waits: false)
    }

    package func closePrompt(_ peer: PromptedPeer) {
        let open = questions.first { if case .pairing(_, let asked, _) = $1 { asked.link == peer.link } else { false } }
        guard let id = open?.key else { return }
        questions[id] = nil
        handle(.over(id))
    }
}

extension PromptDesk: PermissionPrompter {
    /// Asks whether an app may use Bluetooth, now or when there is a prompter.
    package func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
        if routing.prompters.isEmpty { system.observers.report(.permissionWaits(app: question.identifier)) }
        ask(.permission(question, answer), waits: true)
    }
}

extension PromptDesk: AccessoryPrompter {
    package func askAboutAccessories(
        _ question: AccessoryQuestion,
        number: UInt64,
        answer: @escaping (PersonAnswer) -> Void
    ) {
        closeAccessoryQuestion(number)
        ask(.accessory(question, number: number, answer), waits: false)
    }

    package func closeAccessoryQuestion(_ number: UInt64) {
        let open = questions.first { if case .accessory(_, number, _) = $1 { true } else { false } }
        guard let id = open?.key else { return }
        questions[id] = nil
        handle(.over(id))
    }
}

extension PromptDesk.Question {
    /// Returns a closure that delivers the answer, or nil if the answer is of the wrong kind.
    fileprivate func settling(with answer: PersonAnswer) -> (() -> Void)? {
        switch (self, answer) {
        case (.permission(_, let resolve), .allow): return { resolve(true) }
        case (.permission(_, let resolve), .deny): return { resolve(false) }
        case (.pairing(_, _, let resolve), .refuse): return { resolve(.refuse) }
        case (.accessory(_, _, let resolve), .refuse), (.accessory(_, _, let resolve), .accept),
            (.accessory(_, _, let resolve), .choose), (.accessory(_, _, let resolve), .name):
            return { resolve(answer) }
        case (.pairing(.enterPasskey, _, let resolve), .passkey(let passkey)) where passkey <= 999_999,
            (.pairing(.enterPasskeyOnBoth, _, let resolve), .passkey(let passkey)) where passkey <= 999_999:
            return { resolve(.passkey(passkey)) }
        case (.pairing(.confirmPairing, _, let resolve), .accept),
            (.pairing(.confirmReplacement, _, let resolve), .accept),
            (.pairing(.compare, _, let resolve), .accept):
            return { resolve(.accept) }
        case (.permission, _), (.pairing, _), (.accessory, _): return nil
        }
    }
}

extension PairingQuestion.Kind {
    fileprivate init(_ prompt: PairingPrompt) {
        switch prompt {
        case .confirmPairing: self = .confirm
        case .confirmReplacement: self = .confirmReplacement
        case .showPasskey(let passkey): self = .showPasskey(passkey)
        case .enterPasskey: self = .enterPasskey
        case .enterPasskeyOnBoth: self = .enterPasskeyOnBoth
        case .compare(let number): self = .compare(number)
        }
    }
}

extension BluetoothSystem {
    /// The desk that routes the system's prompts to tools; nil if another prompter answers them.
    package var promptDesk: PromptDesk? { apps.permissions.prompter as? PromptDesk }
}
