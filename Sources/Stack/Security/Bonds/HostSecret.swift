import Cryptography
import EventLoops
import SMP

/// The secret of this host: random octets, generated once, with which the host recognises the files that it has written
/// (AB-G06, AB-H08). A key for each use is derived from it (RFC 2104), so that no key reveals anything about another.
///
/// The file of the secret contains its octets, followed by the checksum of the version 1 file of bonds that existed at
/// its creation, or zeroes. That one file was written without a secret, and is trusted until it is replaced.
struct HostSecret: Sendable {
    /// The size of the file, in octets.
    static let fileSize = 2 * count
    /// The size of derived keys and seals, in octets.
    static let count = SHA256Digest.count
    /// The size of the name, in octets.
    static let nameSize = 8

    private let octets: [UInt8]
    private let predecessor: [UInt8]

    /// Generates a secret. `predecessor` is the checksum of an existing file of version 1.
    init(random: RandomSource, predecessor: [UInt8]?) {
        octets = random.bytes(Self.count)
        self.predecessor = predecessor ?? [UInt8](repeating: 0, count: Self.count)
    }

    /// Decodes the content of a file; nil if its length is wrong.
    init?(file: [UInt8]) {
        guard file.count == Self.fileSize else { return nil }
        octets = Array(file.prefix(Self.count))
        predecessor = Array(file.suffix(Self.count))
    }

    var file: [UInt8] { octets + predecessor }

    /// An identifier of the secret that reveals nothing about it.
    var name: [UInt8] { Array(derive("name").prefix(Self.nameSize)) }

    /// Derives octets that only this host can compute, the same each time for the same purpose.
    func derive(_ purpose: String) -> [UInt8] { Self.seal(Array(purpose.utf8), octets) }

    /// Derives octets for uses outside of this module. They differ from those used within it, whatever the purpose.
    func deriveForOthers(_ purpose: String) -> [UInt8] { derive("derive \(purpose)") }

    /// Returns the proof that this host has written a file for a purpose.
    func seal(_ file: [UInt8], for purpose: String) -> [UInt8] { Self.seal(file, derive(purpose)) }

    /// Whether `seal` proves that this host has written a file for a purpose.
    func isSeal(_ seal: [UInt8], of file: [UInt8], for purpose: String) -> Bool {
        HMACSHA256.isCode(seal, for: file, key: derive(purpose))
    }

    func hasReplaced(_ checksum: [UInt8]) -> Bool { predecessor == checksum }

    private static func seal(_ message: [UInt8], _ key: [UInt8]) -> [UInt8] {
        HMACSHA256.code(for: message, key: key)
    }
}

extension HostSecret: SecretContent, CustomDebugStringConvertible {
    var description: String { "secret" }
    var debugDescription: String { "secret" }
    /// A mirror without children.
}
