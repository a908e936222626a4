import BluetoothTypes
import SMP
import Security
import ServiceMessages

/// The rules that decide which devices may pair and which apps may use Bluetooth.
///
/// A rule that refuses a pairing, or that has a code for it, decides always. One that says yes is for when there is no
/// user to ask: a user can compare numbers.
///
/// Each line is a rule, and the first matching rule applies. Whatever no rule matches is refused. `#` begins a comment.
/// A quoted value may contain spaces, `*` matches any text, and `\` escapes the next character.
///
///     pair app=com.example.* user=1000 peer=C0:FF:EE:00:00:01 code 123456
///     pair peer="Heart*" yes
///     pair no
///     app name=com.example.* user=1000 yes
///     app name=* ask
///     prompters 1000 1001
///
/// A device may choose its own name and, until it is paired, its own address. Only a rule with a code proves its
/// identity.
package struct PolicyFile: Hashable, Sendable {
    /// The maximum size of a file, in octets (AB-G05).
    package static let maximumOctets = 65_536
    package static let maximumLines = 1_024
    package static let maximumPrompters = 64

    /// The ruling on a device that wants to pair.
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

    /// The devices that a rule matches. A pattern that looks like an address matches addresses, not names.
    enum PeerPattern: Hashable, Sendable {
        case address(UInt64)
        case name(NamePattern)
    }

    var pairRules: [PairRule] = []
    var appRules: [AppRule] = []
    /// The IDs of the users that may answer prompts, besides the user of the service.
    package internal(set) var prompters: Set<UInt32> = []

    /// Creates a policy without rules, which refuses everything.
    package init() {}

    /// Whether any rule lets a device pair without a user.
    package var pairs: Bool { pairRules.contains { $0.ruling != .no } }
    /// The number of rules that wait while there is a user to ask.
    var yielding: Int { pairRules.count { $0.ruling == .yes } }

    /// Returns the ruling on a device, or nil if no rule matches it.
    ///
    /// - Parameter apps: The apps that are connected to it. A rule that names an app or a user matches if any of them
    ///   does.
    package func ruling(on name: String?, address: BluetoothAddress, apps: [AppIdentity]) -> PairRuling? {
        pairRules.first { $0.fits(name: name, address: address, apps: apps) }?.ruling
    }

    /// Returns the ruling on a device if there is no user: what no rule matches is refused.
    package func decide(name: String?, address: BluetoothAddress, apps: [AppIdentity]) -> PairRuling {
        ruling(on: name, address: address, apps: apps) ?? .no
    }

    /// Returns the answer that stands although there is a user to ask, or nil to ask (AB-A14).
    func standingAnswer(to prompt: PairingPrompt, of peer: PromptedPeer, for apps: [AppIdentity]) -> PairingAnswer? {
        switch (ruling(on: peer.name, address: peer.address, apps: apps), prompt) {
        case (.no, _): .refuse
        case (.code(let code), .enterPasskey): .passkey(code)
        case (.code, _), (.yes, _), (nil, _): nil
        }
    }

    /// Returns the permission of an app, or nil if no rule matches it.
    package func permission(of app: AppIdentity) -> AppPermission? {
        appRules.first { ($0.user ?? app.owner) == app.owner && $0.name.matches(app.name) }?.permission
    }

    /// Returns the rights of a user's tools. `owner` is the user of the service.
    package func rights(of user: UInt32, owner: UInt32) -> ToolRights {
        // The administrator of the machine could do all of that anyway.
        if user == owner || user == 0 { return .control }
        return prompters.contains(user) ? [.inspect, .answer] : .inspect
    }

    /// Returns the answer in place of a user.
    ///
    /// Showing a passkey is pointless without a user, and so is entering one that no device shows (AB-S17). The
    /// identity of a device that has lost its keys cannot be confirmed (AB-S09). All three are refused. A code is for
    /// devices that this one connects to: strangers could guess it, bit by bit under ever new addresses (AB-S18).
    func answer(to prompt: PairingPrompt, of peer: PromptedPeer, for apps: [AppIdentity]) -> PairingAnswer {
        switch (prompt, decide(name: peer.name, address: peer.address, apps: apps)) {
        case (.confirmPairing, .yes), (.compare, .yes): .accept
        case (.enterPasskey, .code(let code)) where peer.cause != .stranger: .passkey(code)
        case (.confirmPairing, _), (.compare, _), (.enterPasskey, _), (.enterPasskeyOnBoth, _), (.showPasskey, _),
            (.confirmReplacement, _):
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

/// The rights of a tool, depending on the user that it runs as.
package struct ToolRights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The app name for tools of users other than the service's, for decisions about their permission to use Bluetooth.
    package static let toolName = "harald"

    /// Read status, devices, apps and events, without the contents of apps' messages.
    package static let inspect = ToolRights(rawValue: 1 << 0)
    /// Show prompts to the user and answer them.
    package static let answer = ToolRights(rawValue: 1 << 1)
    /// Read and change everything.
    package static let control: ToolRights = [.inspect, .answer, ToolRights(rawValue: 1 << 2)]
}

extension ToolQuestion {
    package var needs: ToolRights {
        switch self {
        case .status, .devices, .monitor, .apps: .inspect
        case .prompts: .answer
        case .ownAdvice: []
        case .bonds, .forgetBond, .app, .accessory, .advice, .packets: .control
        }
    }
}

/// A pattern for names in which `*` matches any text.
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

    /// The text of a pattern without `*`, or nil.
    var plain: String? {
        var text = String.UnicodeScalarView()
        for element in elements {
            guard case .scalar(let scalar) = element else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    /// Whether the pattern matches the whole name. Backtracks only to the last `*`, so the time is at most proportional
    /// to the product of both lengths.
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
