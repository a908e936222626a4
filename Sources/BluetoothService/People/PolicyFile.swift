import BluetoothTypes
import SMP
import Security

/// What is decided where there is no person to ask: which devices may pair, and which apps may use Bluetooth.
///
/// A line is a rule; of several that fit the first counts, and what no rule is about is no. `#` begins a comment. A value in quotation
/// marks may have spaces, `*` stands for anything, and `\` takes the next character as it is.
///
///     pair app=com.example.* user=1000 peer=C0:FF:EE:00:00:01 code 123456
///     pair peer="Heart*" yes
///     pair no
///     app name=com.example.* user=1000 yes
///     app name=* ask
///     prompters 1000 1001
///
/// A device may call itself and, until it is paired, its address as it likes: a rule with a code is the one that proves who it is.
package struct PolicyFile: Hashable, Sendable {
    /// Octets of a file (AB-G05).
    package static let maximumOctets = 65_536
    /// Lines of a file.
    package static let maximumLines = 1_024
    /// Prompters that may be named.
    package static let maximumPrompters = 64

    /// What becomes of a device that wants to pair.
    package enum PairRuling: Hashable, Sendable {
        case yes
        case no
        /// The device shows this code, or has it printed on it.
        case code(UInt32)
    }

    struct PairRule: Hashable, Sendable {
        var app = NamePattern.anything
        var user: UInt32?
        var peer = PeerPattern.name(.anything)
        var ruling = PairRuling.no
    }

    struct AppRule: Hashable, Sendable {
        var name = NamePattern.anything
        var user: UInt32?
        var permission = AppPermission.restricted
    }

    /// Which devices a rule is about. A name that looks like an address is none.
    enum PeerPattern: Hashable, Sendable {
        case address(UInt64)
        case name(NamePattern)
    }

    var pairRules: [PairRule] = []
    var appRules: [AppRule] = []
    /// The numbers of the users that may answer questions, besides the one of the service.
    package internal(set) var prompters: Set<UInt32> = []

    /// No rules.
    package init() {}

    /// Whether there are devices that may pair without a person.
    package var pairs: Bool { pairRules.contains { $0.ruling != .no } }

    /// What becomes of a device.
    ///
    /// - Parameter apps: Those that are connected to it. A rule that names an app, or a user, is about any of them.
    package func decide(name: String?, address: BluetoothAddress, apps: [AppIdentity]) -> PairRuling {
        let rule = pairRules.first { $0.fits(name: name, address: address, apps: apps) }
        return rule?.ruling ?? .no
    }

    /// Whether an app may use Bluetooth; nil where nothing is said of it.
    package func permission(of app: AppIdentity) -> AppPermission? {
        appRules.first { ($0.user ?? app.owner) == app.owner && $0.name.matches(app.name) }?.permission
    }

    /// What the tools of a user may do. `owner` is the user of the service.
    package func rights(of user: UInt32, owner: UInt32) -> ToolRights {
        // The administrator of the machine can do all that anyway.
        if user == owner || user == 0 { return .control }
        return prompters.contains(user) ? [.look, .answer] : .look
    }

    /// What is said in place of a person. Nobody sees what is shown, and nobody knows that a device that has lost its keys is still
    /// the same: both are no (AB-S09).
    func answer(to prompt: PairingPrompt, of peer: PromptedPeer, for apps: [AppIdentity]) -> PairingAnswer {
        switch (prompt, decide(name: peer.name, address: peer.address, apps: apps)) {
        case (.confirmPairing, .yes), (.compare, .yes): .accept
        case (.enterPasskey, .code(let code)): .passkey(code)
        case (.confirmPairing, _), (.compare, _), (.enterPasskey, _), (.showPasskey, _), (.confirmReplacement, _):
            .refuse
        }
    }
}

extension PolicyFile.PairRule {
    fileprivate func fits(name: String?, address: BluetoothAddress, apps: [AppIdentity]) -> Bool {
        let isOfApp = apps.contains { (user ?? $0.owner) == $0.owner && app.matches($0.name) }
        guard isOfApp || app.isAnything && user == nil else { return false }
        return switch peer {
        case .address(let wanted): wanted == address.value
        case .name(let pattern): pattern.isAnything || name.map { pattern.matches($0) } ?? false
        }
    }
}

/// A name in which `*` stands for anything.
struct NamePattern: Hashable, Sendable {
    enum Element: Hashable, Sendable {
        case any
        case scalar(Unicode.Scalar)
    }

    static let anything = NamePattern([.any])

    private let elements: [Element]

    init(_ elements: [Element]) {
        self.elements = elements
    }

    var isAnything: Bool { self == .anything }

    /// The text, if it has no `*`.
    var plain: String? {
        var text = String.UnicodeScalarView()
        for element in elements {
            guard case .scalar(let scalar) = element else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    /// Whether all of the name fits. Goes back to the last `*` only, so that it takes no longer than both lengths multiplied.
    func matches(_ name: String) -> Bool {
        let name = Array(name.unicodeScalars)
        var (at, inName) = (0, 0)
        var star: (at: Int, inName: Int)?
        while inName < name.count {
            if at < elements.count, elements[at] == .any {
                star = (at, inName)
                at += 1
            } else if at < elements.count, elements[at] == .scalar(name[inName]) {
                at += 1
                inName += 1
            } else if let last = star {
                star = (last.at, last.inName + 1)
                (at, inName) = (last.at + 1, last.inName + 1)
            } else {
                return false
            }
        }
        return elements[at...].allSatisfy { $0 == .any }
    }
}
