import BluetoothTypes
import EventLoops
import ServiceMessages

/// The actions of a hostile process: every request in any order and size, floods, garbage, partial messages, a socket
/// that it does not read, and sudden ends. The same seed produces the same steps.
package struct HostileGrammar {
    /// An action of the process.
    package enum Step: Equatable {
        /// Sends whole messages, in this order.
        case send([PacketBuffer])
        /// Sends octets that are not a whole message, which makes the rest of the stream invalid.
        case sendRaw([UInt8])
        /// Does nothing for a while.
        case wait(Duration)
        /// Stops reading, or resumes.
        case read(Bool)
        /// Closes the socket and connects again.
        case reconnect
    }

    /// The maximum number of messages in a flood.
    static let flood: UInt64 = 200
    /// The number of identifiers to remember from the service's messages.
    static let maximumKnown = 32

    private let random: RandomSource
    private let name: String
    private var isOpen = false
    private var nextManager: UInt32 = 0
    private var known: [[UInt8]] = []

    /// Creates a process.
    ///
    /// - Parameters:
    ///   - name: The app name that the process claims.
    ///   - random: The sole source of its actions, besides the identifiers that it learns.
    package init(name: String, random: RandomSource) {
        self.name = name
        self.random = random
    }

    /// Remembers an identifier that the service has sent, to use it in requests.
    package mutating func learn(_ identifier: [UInt8]) {
        guard !known.contains(identifier) else { return }
        if known.count >= Self.maximumKnown { known.removeFirst() }
        known.append(identifier)
    }

    /// Notes that the connection ended, on either side. The next connection starts with an opening.
    package mutating func disconnected() { isOpen = false }

    /// Returns the next step. Until the connection is open, that is an opening.
    package mutating func next() -> Step {
        guard isOpen else { return opening() }
        switch random.below(100) {
        case 0..<70: return .send([message()])
        case 70..<74: return .send((0...random.below(Self.flood / 10)).map { _ in message() })
        case 74..<84: return .send([PacketBuffer](repeating: message(), count: Int(1 + random.below(Self.flood))))
        case 84..<92: return .wait(.milliseconds(Int64(random.below(300))))
        case 92..<95: return .read(random.below(2) == 0)
        case 95..<97: return garbage()
        default: return .reconnect
        }
    }

    /// Usually a proper opening; sometimes another message, or none.
    private mutating func opening() -> Step {
        nextManager = 0
        isOpen = true
        switch random.below(20) {
        case 0: return .send([Opening.tool(version: Hello.version).encoded()])
        case 1: return .wait(.milliseconds(Int64(random.below(6_000))))
        case 2: return garbage()
        default:
            var declaration = random.below(2) == 0 ? AppDeclaration.unmanaged : AppDeclaration()
            declaration.usageDescription = "to do harm"
            let hello = Opening.app(Hello(AppIdentity(name: name), declaring: declaration))
            return .send([hello.encoded()] + (0...random.below(4)).map { _ in openManager() })
        }
    }

    private mutating func openManager() -> PacketBuffer {
        nextManager += 1
        let role: ManagerRole = random.below(2) == 0 ? .central : .peripheral
        let identifier = random.below(3) == 0 ? "\(name) \(random.below(1_000))" : nil
        let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: identifier)
        return AppMessage.openManager(ManagerID(nextManager), role, options).encoded()
    }

    /// A message of any kind, usually a valid one.
    private mutating func message() -> PacketBuffer {
        if random.below(8) == 0 { return openManager() }
        let kinds = Self.kinds[Int(random.below(UInt64(Self.kinds.count)))]
        for _ in 0..<50 {
            var message = AppMessage.misuse("")
            var fields = RandomMessageFields(kinds: kinds, known: known, random: random)
            if (try? message.code(&fields)) != nil { return message.encoded() }
        }
        return PacketBuffer(kinds)
    }

    private func garbage() -> Step {
        switch random.below(3) {
        case 0: return .sendRaw(random.bytes(Int(random.below(64))))
        // A length beyond the limit, and the first half of a message.
        case 1: return .sendRaw([0xFF, 0xFF, 0xFF, UInt8(random.below(256))])
        default: return .sendRaw([100, 0, 0, 0, 2, 1])
        }
    }

    /// The kinds of every message, and of every request within one, outermost first.
    static let kinds: [[UInt8]] =
        nested(AppMessage.kinds) { message in
            switch message {
            case .request:
                nested(Request.kinds) { request in
                    switch request {
                    case .central:
                        nested(CentralRequest.kinds) { request in
                            guard case .peer = request else { return [[]] }
                            return nested(PeerRequest.kinds) { request in
                                switch request {
                                case .link, .ask: nested(LinkRequest.kinds) { _ in [[]] }
                                default: [[]]
                                }
                            }
                        }
                    case .peripheral: nested(PeripheralRequest.kinds) { _ in [[]] }
                    case .channel: nested(ChannelRequest.kinds) { _ in [[]] }
                    case .setup: nested(SetupRequest.kinds) { _ in [[]] }
                    case .activity: [[]]
                    }
                }
            case .query: nested(Query.kinds) { _ in [[]] }
            default: [[]]
            }
        }

    private static func nested<M: MessageKinds>(_ kinds: [M], _ inner: (M) -> [[UInt8]]) -> [[UInt8]] {
        kinds.flatMap { kind in inner(kind).map { [kind.kind.number] + $0 } }
    }
}
