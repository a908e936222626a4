import Crypto
import EventLoops

/// What this host alone knows: random octets, made once, by which it recognises the files that it has written itself
/// (AB-G06, AB-H08). The keys for its uses are derived from it (RFC 2104), so that none tells anything of another.
///
/// Its file has its octets, and then the checksum of the file of bonds of version 1 that was there when it was made, or
/// zeroes: that one file was written without a secret, and is taken all the same until it is replaced.
struct HostSecret: Sendable {
    /// Octets of its file.
    static let fileSize = 2 * count
    /// Octets of what it derives, seals included.
    static let count = SHA256.byteCount
    /// Octets of its name.
    static let nameSize = 8

    private let octets: [UInt8]
    private let predecessor: [UInt8]

    /// A new one; `predecessor` is the checksum of the file of version 1 that is there.
    init(random: RandomSource, predecessor: [UInt8]?) {
        octets = random.bytes(Self.count)
        self.predecessor = predecessor ?? [UInt8](repeating: 0, count: Self.count)
    }

    /// The one in a file; nil for another length.
    init?(file: [UInt8]) {
        guard file.count == Self.fileSize else { return nil }
        octets = Array(file.prefix(Self.count))
        predecessor = Array(file.suffix(Self.count))
    }

    /// Its file.
    var file: [UInt8] { octets + predecessor }

    /// What tells it from others, and nothing about it.
    var name: [UInt8] { Array(derive("name").prefix(Self.nameSize)) }

    /// Octets that only this host can make, the same each time for the same purpose.
    func derive(_ purpose: String) -> [UInt8] { Self.seal(Array(purpose.utf8), octets) }

    /// The same for whoever is outside of this room. Whatever the purpose, it is nothing that the secret is used for in here.
    func deriveForOthers(_ purpose: String) -> [UInt8] { derive("derive \(purpose)") }

    /// What proves that this host has written a file for a purpose.
    func seal(_ file: [UInt8], for purpose: String) -> [UInt8] { Self.seal(file, derive(purpose)) }

    /// Whether this host has written a file with this seal.
    func isSeal(_ seal: [UInt8], of file: [UInt8], for purpose: String) -> Bool {
        let key = SymmetricKey(data: derive(purpose))
        return HMAC<SHA256>.isValidAuthenticationCode(seal, authenticating: file, using: key)
    }

    /// Whether the file of version 1 with this checksum was there before.
    func hasReplaced(_ checksum: [UInt8]) -> Bool { predecessor == checksum }

    private static func seal(_ message: [UInt8], _ key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }
}

extension HostSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The same, whatever it is: secrets do not go into logs.
    var description: String { "secret" }
    /// The same, whatever it is.
    var debugDescription: String { "secret" }
    /// Without parts.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
