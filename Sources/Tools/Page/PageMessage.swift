import Administration
import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages

/// A message of the page's script: a text frame with a JSON object. The script chooses `id`, which the answer repeats.
struct PageMessage: Codable, Sendable {
    /// The kinds of messages.
    enum Verb: String, Codable, Sendable {
        /// Applies an ``AppVerb`` to an app.
        case app
        /// Applies an ``AccessoryVerb`` to an accessory of an app.
        case accessory
        /// Removes the bond of a device.
        case forget
        /// Answers a prompt of the service.
        case answer
        /// Starts or ends a scan.
        case scan
        /// Connects to a device, or leaves it.
        case connect
        /// Reads, writes or follows a characteristic of a connected device.
        case read
        case write
        case follow
        /// Measures the distance to a connected device, or no longer.
        case measure
        /// Changes the simulated world. The other fields are those of the world.
        case world
        /// Follows the packets of the controller, or no longer.
        case packets
        /// Asks for one packet, layer by layer.
        case packet
        /// Asks for the last rows before a packet.
        case earlier
        /// Names packets to save, after those of earlier messages.
        case select
        /// Asks for the address at which the packets that were named can be saved, once.
        case save
    }

    /// The maximum length of a message, in octets.
    static let maximumLength = 4_096

    let verb: Verb
    private(set) var id: UInt32?
    /// For ``Verb/app`` and ``Verb/accessory``: the name of the app, its owner, and the command.
    let name: String?
    let owner: UInt32?
    let command: String?
    let peer: UUID?
    /// The characteristic, by the key in the table of the device.
    let key: String?
    /// For ``Verb/scan``, ``Verb/connect``, ``Verb/follow``, ``Verb/measure`` and ``Verb/packets``: whether to begin, or
    /// to end.
    let on: Bool?
    /// For ``Verb/write``: the value in hexadecimal. For ``Verb/accessory``: the new name.
    let value: String?
    /// For ``Verb/answer``: the number of the prompt, and `accept`, `refuse`, `allow`, `deny` or six digits, or `choose` with
    /// ``peer`` or `name` with ``name``.
    let number: UInt32?
    let answer: String?
    /// For ``Verb/packet`` and ``Verb/earlier``: the number of the packet.
    let packet: UInt64?
    /// For ``Verb/select``: the packets, as ``PagePackets/Selection/add(_:)`` reads them.
    let packets: [UInt64]?
    let format: PagePackets.Format?

    func numbered(_ number: UInt32) -> PageMessage {
        var message = self
        message.id = number
        return message
    }

    /// The question for the service, if the message asks one.
    var question: ToolQuestion? {
        switch verb {
        case .app:
            guard let name, let verb = command.flatMap(Self.appVerb) else { return nil }
            return .app(verb, name: name, owner: owner)
        case .accessory:
            guard let name, let peer, let verb = accessoryVerb else { return nil }
            return .accessory(peer, verb, name: name, owner: owner)
        case .forget: return peer.map { .forgetBond($0) }
        case .answer, .scan, .connect, .read, .write, .follow, .measure, .world, .packets, .packet, .earlier, .select,
            .save:
            return nil
        }
    }

    private var accessoryVerb: AccessoryVerb? {
        switch command {
        case "remove": .remove
        case "rename": value.map { .rename($0) }
        default: nil
        }
    }

    /// The command on an app with this name in messages.
    private static func appVerb(named name: String) -> AppVerb? {
        switch name {
        case "launch": .launch
        case "background": .background
        case "foreground": .foreground
        case "suspend": .suspend
        case "terminate": .terminate
        case "forceQuit": .forceQuit
        case "resetPermission": .resetPermission
        case "revokePermission": .revokePermission
        case "startLiveActivity": .startLiveActivity
        case "endLiveActivity": .endLiveActivity
        default: nil
        }
    }

    /// The action on a device, if the message asks for one.
    var action: (@Sendable (PageCentral) async throws -> Void)? {
        switch (verb, peer, key) {
        case (.scan, _, _): { [on] in on == false ? await $0.stopScan() : await $0.startScan() }
        case (.connect, let peer?, _):
            { [on] in if on == false { await $0.disconnect(peer) } else { try await $0.connect(peer) } }
        case (.read, let peer?, let key?): { try await $0.read(peer, key) }
        case (.follow, let peer?, let key?): { [on] in try await $0.follow(peer, key, on ?? true) }
        case (.measure, let peer?, _):
            { [on] in if on == false { await $0.stopMeasuring(peer) } else { try await $0.measure(peer) } }
        case (.write, let peer?, let key?):
            { [value] in
                guard let octets = BluetoothTypes.octets(hexadecimal: (value ?? "").filter { $0 != " " }) else {
                    throw PageFault("a value is written as pairs of hexadecimal digits, such as 01 FF")
                }
                try await $0.write(peer, key, octets)
            }
        default: nil
        }
    }

    /// The answer to a prompt, if the message is one.
    var personAnswer: (number: UInt32, answer: PersonAnswer)? {
        guard case .answer = verb, let number, let answer else { return nil }
        switch answer {
        case "accept": return (number, .accept)
        case "refuse": return (number, .refuse)
        case "allow": return (number, .allow)
        case "deny": return (number, .deny)
        case "choose": return peer.map { (number, .choose($0)) }
        case "name": return name.map { (number, .name($0)) }
        default:
            let isPasskey = answer.utf8.count == 6 && answer.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return isPasskey ? UInt32(answer).map { (number, .passkey($0)) } : nil
        }
    }
}

/// A prompt of the service as JSON for the page.
struct PagePrompt: Encodable, Sendable {
    let number: UInt32
    /// `confirm`, `confirmReplacement`, `showPasskey`, `enterPasskey`, `enterPasskeyOnBoth`, `compare`, `permission`,
    /// `pick`, `migrate`, `rename`, `update` or `notice`.
    let kind: String
    /// The passkey or the number to show, six digits.
    var code: String?
    var peerName: String?
    var peerAddress: String?
    var isInBackground: Bool?
    /// The apps that need the pairing, with their verb; nil if the other device began.
    var asking: String?
    var app: String?
    var displayName: String?
    var owner: UInt32?
    var usage: String?
    var executable: String?
    var text: String?
    var offers: [Offer]?

    /// An accessory in a view of AccessorySetupKit.
    struct Offer: Encodable, Sendable {
        let identifier: UUID
        let name: String
        let image: String?
        let advertisedName: String?
        let isShared: Bool
    }

    init(_ number: UInt32, _ question: PersonQuestion) {
        self.number = number
        switch question {
        case .pairing(let pairing):
            (kind, code) = Self.kind(of: pairing.kind)
            (peerName, peerAddress) = (pairing.peerName, pairing.peerAddress)
            (isInBackground, asking) = (pairing.isInBackground, pairing.origin.asking)
        case .permission(let permission):
            kind = "permission"
            (app, displayName, owner) = (permission.identifier, permission.displayName, permission.owner)
            (usage, executable) = (permission.usage, permission.executable)
        case .accessory(let question):
            kind = question.kind.kind.name
            (app, displayName, owner) = (question.app.identifier, question.app.displayName, question.app.owner)
            offers = question.offers.map {
                Offer(
                    identifier: $0.identifier,
                    name: $0.name,
                    image: $0.image.isEmpty ? nil : $0.image,
                    advertisedName: $0.advertisedName,
                    isShared: $0.isShared
                )
            }
        case .notice(let text):
            kind = "notice"
            self.text = text
        }
    }

    private static func kind(of kind: PairingQuestion.Kind) -> (String, String?) {
        switch kind {
        case .confirm: ("confirm", nil)
        case .confirmReplacement: ("confirmReplacement", nil)
        case .showPasskey(let code): ("showPasskey", digits(code))
        case .enterPasskey: ("enterPasskey", nil)
        case .enterPasskeyOnBoth: ("enterPasskeyOnBoth", nil)
        case .compare(let code): ("compare", digits(code))
        }
    }

    private static func digits(_ code: UInt32) -> String {
        String(repeating: "0", count: max(0, 6 - "\(code)".count)) + "\(code)"
    }
}

/// JSON for the page.
enum JSON {
    /// Returns a value as JSON; `null` for one without, such as a NaN.
    static func of(_ value: some Encodable) -> String { JSONText.of(value) ?? "null" }
}
