import EventLoops
import SMP
import Security

/// Somebody who sits at one device, or at two, and does what the devices ask.
package final class Person: PairingPrompter {
    /// What was asked or shown, in order.
    package private(set) var prompts: [PairingPrompt] = []
    /// Whom it was about.
    package private(set) var peers: [PromptedPeer] = []
    /// Prompts that were closed, by their links.
    package private(set) var closed: [UInt64] = []
    /// What to do; nil to do nothing. By itself the person agrees to everything.
    package var decide: (PairingPrompt) -> PairingAnswer? = { _ in .accept }
    /// Where passkeys are read and written.
    package let slip: Slip

    /// What a passkey is written down on; two persons may share one.
    package final class Slip {
        fileprivate var passkey: UInt32?
        fileprivate var waiting: ((PairingAnswer) -> Void)?
        private let loop: any EventLoop

        package init(loop: any EventLoop) { self.loop = loop }

        fileprivate func write(_ passkey: UInt32) {
            self.passkey = passkey
            copy()
        }

        fileprivate func read(_ answer: @escaping (PairingAnswer) -> Void) {
            waiting = answer
            copy()
        }

        private func copy() {
            guard let passkey, let waiting else { return }
            self.waiting = nil
            self.passkey = nil
            loop.schedule(after: .seconds(1)) { waiting(.passkey(passkey)) }
        }
    }

    package init(_ slip: Slip) { self.slip = slip }

    package func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        prompts.append(prompt)
        peers.append(peer)
        guard let decision = decide(prompt) else { return }
        guard decision == .accept else { return answer(decision) }
        switch prompt {
        case .showPasskey(let passkey): slip.write(passkey)
        case .enterPasskey: slip.read(answer)
        default: answer(.accept)
        }
    }

    package func closePrompt(_ peer: PromptedPeer) { closed.append(peer.link) }

    package func forget() {
        prompts = []
        peers = []
        closed = []
        slip.passkey = nil
        slip.waiting = nil
    }
}
