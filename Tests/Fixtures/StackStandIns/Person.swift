import EventLoops
import SMP
import Security

/// A user of one or two devices, who reacts to their prompts.
package final class Person: PairingPrompter {
    /// The prompts so far, in order.
    package private(set) var prompts: [PairingPrompt] = []
    /// The peers that the prompts were about.
    package private(set) var peers: [PromptedPeer] = []
    /// The closed prompts, by their links.
    package private(set) var closed: [UInt64] = []
    /// Decides the answer to a prompt; nil for no answer. By default the person agrees to everything.
    package var decide: (PairingPrompt) -> PairingAnswer? = { _ in .accept }
    /// The slip from which passkeys are read, and on which they are written.
    package let slip: Slip

    /// A note with a passkey; two persons may share one.
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
        case .enterPasskeyOnBoth: answer(.passkey(271_828))
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
