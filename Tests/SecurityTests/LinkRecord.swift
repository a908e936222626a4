import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import SMP
import StackStandIns

@testable import Security

extension SecureLink {
    /// Whether a caller waits for a lost bond to be replaced.
    var isReplacing: Bool {
        if case .replacing = state.procedure { return true }
        return false
    }
}

/// Everything that results from events on a link of a ``SecurityBench``: what the controller, the peer and the user
/// receive, what is reported to the layers above, and the final state.
final class LinkRecord {
    let bench: SecurityBench
    let person: Person
    private let owner: StandInOwner
    private var notes: [String] = []

    /// - Parameter isStaffed: Whether there is a user, who leaves every prompt open.
    init(_ bench: SecurityBench, isStaffed: Bool = true) {
        self.bench = bench
        person = Person(Person.Slip(loop: bench.hci.loop))
        owner = StandInOwner(of: bench.link)
        person.decide = { [unowned self] prompt in
            note("asked \(prompt)")
            return nil
        }
        if isStaffed { bench.deviceSecurity.prompter = person }
        let link = bench.link
        link.onEvent = { [unowned self] in note(Self.text($0)) }
        owner.onReplaced = { [unowned self] in note("replaced") }
        bench.deviceSecurity.onBondChange = { [unowned self] _ in note("bond changed") }
        _ = take()
    }

    func note(_ what: String) { notes.append(what) }

    /// Returns a completion that records the result of a request under `name`.
    func completion(_ name: String) -> SecureLink.Completion {
        { [unowned self] result in
            switch result {
            case .success: note("\(name)")
            case .failure(let error): note("not \(name): \(Self.text(error))")
            }
        }
    }

    /// The results since the last call.
    func take() -> String {
        bench.hci.run(.milliseconds(1))
        let closed = person.closed.map { _ in "closed" }
        person.forget()
        defer { (notes, bench.hci.transport.sent) = ([], []) }
        let commands = bench.hci.transport.commands.map(Self.text)
        let sent = bench.hci.transport.sent.compactMap(\.securityCommand).map(Self.text)
        return (commands + sent + notes + closed).joined(separator: ", ")
    }

    /// The current state of the link, its bond and its prompts, as text.
    var state: String {
        let link = bench.link
        let bond = link.bond.map { $0.isLost ? "lost bond" : "bond" }
        let isPairing = if case .underWay = link.pairing { true } else { false }
        let flags: [(Bool, String)] = [
            (link.isOpen, "open"), (isPairing, "pairing"),
            (link.pairing.isReplacementRefused, "refused"), (link.hasPairedWithoutBond, "paired without"),
            (link.isReplacing, "replacing"),
            (link.hasPrompt, "prompt"), (link.bondIdentifier != nil, "known"),
        ]
        let words = flags.filter(\.0).map(\.1) + [bond].compactMap(\.self)
        return "\(words.joined(separator: " ")); \(Self.text(link.linkSecurity)); \(Self.channelText(bench.protection))"
    }

    private static func text(_ event: SecureLink.Event) -> String {
        switch event {
        case .changed: "changed"
        case .paired(let bond): bond == nil ? "paired" : "bonded"
        case .failed(let error): "failed: \(text(error))"
        case .bondLost: "lost"
        }
    }

    private static func text(_ error: SecurityError) -> String {
        switch error {
        case .forgotten: "forgotten"
        case .linkLost: "gone"
        case .peerLostKey: "key lost"
        case .encryptionTimedOut: "no answer"
        case .encryptionFailed: "not encrypted"
        case .refusedByPerson: "refused"
        case .notAllowed: "not allowed"
        default: "\(error)"
        }
    }

    /// The Security Manager commands that a link sends unprompted, as this package's default configuration fills them.
    private static func text(_ command: [UInt8]) -> String {
        switch command {
        case [0x01, 0x04, 0x00, 0x0D, 0x10, 0x03, 0x03]: "Pairing Request"
        case [0x0B, 0x0D]: "Security Request"
        default: "SMP \(command)"
        }
    }

    private static func isOwnKey(_ key: PacketBuffer) -> Bool { key.bytes == SecurityBench.key.littleEndianBytes }

    private static func text(_ command: any HCICommand) -> String {
        switch command {
        case let command as Disconnect: "end: \(text(command.reason))"
        case let command as LEEnableEncryption:
            command.handle == SecurityBench.handle && isOwnKey(command.longTermKey) ? "encrypt" : "encrypt wrongly"
        case let command as LELongTermKeyRequestReply: isOwnKey(command.longTermKey) ? "key" : "wrong key"
        case is LELongTermKeyRequestNegativeReply: "no key"
        default: type(of: command).name
        }
    }

    private static func text(_ reason: HCIStatus) -> String {
        switch reason {
        case .authenticationFailure: "authentication failure"
        case .remoteUserTerminated: "remote user"
        default: "\(reason)"
        }
    }

    private static func text(_ security: LinkSecurity) -> String {
        words([
            (security.isEncrypted, "encrypted"), (security.isAuthenticated, "authenticated"),
            (security.isSecureConnections, "LESC"), (security.hasKey, "key"), (security.isAuthorized, "authorized"),
            (security.isSecureConnectionsOnly, "only"), (security.encryption?.keySize ?? 16 != 16, "short"),
        ])
    }

    private static func words(_ flags: [(Bool, String)]) -> String {
        flags.contains(where: \.0) ? flags.filter(\.0).map(\.1).joined(separator: " ") : "none"
    }

    /// The security as reported to L2CAP, where a key counts even if it is not in use.
    private static func channelText(_ security: LinkSecurity) -> String {
        words([
            (security.isEncrypted, "encrypted"), (security.usableKey?.isAuthenticated ?? false, "authenticated"),
            (security.usableKey != nil, "key"), (security.usableKey?.keySize ?? 16 != 16, "short"),
        ])
    }
}
