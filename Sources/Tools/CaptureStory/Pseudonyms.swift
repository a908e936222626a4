import BluetoothTypes
import Cryptography

/// Replacements for secrets: the same octets get the same replacement of the same length.
///
/// They follow from a random key of the redaction, which is forgotten with it. A guessed source can therefore not be
/// compared with a replacement.
struct Pseudonyms: Sendable {
    private let seed: [UInt8]
    /// The identity resolving keys of the capture, least significant octet first, each with its replacement.
    private let keys: [(key: Key128, replacement: Key128)]
    /// The addresses that are computed already, because a capture repeats few of them often.
    private var addresses = RecencyTable<UInt64, UInt64>(limit: StoryLimits.devices)

    init(seed: [UInt8], keys: [PacketBuffer]) {
        self.seed = seed
        self.keys = keys.compactMap { key in
            guard let known = Key128(littleEndian: key),
                let replacement = Key128(littleEndian: Self.stream(seed, Array(key), count: key.count))
            else { return nil }
            return (known, replacement)
        }
    }

    /// Returns the replacement of a key, a random value or any other octets.
    func octets(_ source: some Collection<UInt8>) -> [UInt8] {
        source.allSatisfy { $0 == 0 } ? Array(source) : Self.stream(seed, Array(source), count: source.count)
    }

    /// Returns the replacement of a name: letters.
    func text(_ source: some Collection<UInt8>) -> [UInt8] {
        octets(source).map { UInt8(ascii: "a") + $0 % 26 }
    }

    /// Returns the replacement of a value: letters for text, and octets for anything else.
    ///
    /// The first octets become zeros, except for the last one of a short value. Many known values begin with up to 24
    /// flags that tell which fields follow, and none of these flags keeps the value complete for decoders.
    func value(_ source: some Collection<UInt8>) -> [UInt8] {
        let isText = source.count > 1 && source.allSatisfy { (0x20...0x7E).contains($0) }
        if isText { return text(source) }
        var result = octets(source)
        for index in result.indices.dropLast().prefix(Self.flags) { result[index] = 0 }
        return result
    }

    /// The octets that the flags of a value may take.
    private static let flags = 3

    /// Returns the replacement of an address. It has the same type, and the key of its device resolves it if the
    /// original key resolves the original address.
    mutating func address(_ source: UInt64) -> UInt64 {
        guard source != 0 else { return 0 }
        if let known = addresses[source] { return known }
        let made = computed(source)
        addresses.set(made, for: source)
        return made
    }

    /// Returns the replacement of an address, least significant octet first.
    mutating func octets(of address: BluetoothAddress) -> [UInt8] {
        BluetoothAddress(self.address(address.value), kind: .randomDevice).littleEndianBytes
    }

    private func computed(_ source: UInt64) -> UInt64 {
        let digest = Self.stream(seed, (0..<6).map { UInt8(truncatingIfNeeded: source >> (8 * $0)) }, count: 6)
        let random = digest.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The two top bits tell the kind of a random address (Core Vol 6 Part B 1.3.2).
        let kept: UInt64 = 0xC000_0000_0000
        let plain = random & ~kept | source & kept
        guard source >> 46 == 0b01 else { return plain }
        let part = UInt32(truncatingIfNeeded: source >> 24)
        for (key, replacement) in keys where Toolbox.ah(key, part) == UInt32(source & 0xFF_FFFF) {
            let upper = plain >> 24
            return upper << 24 | UInt64(Toolbox.ah(replacement, UInt32(upper)))
        }
        return plain
    }

    private static func stream(_ seed: [UInt8], _ source: [UInt8], count: Int) -> [UInt8] {
        var result: [UInt8] = []
        var block: UInt8 = 0
        while result.count < count {
            result += HMACSHA256.code(for: source + [block], key: seed)
            // Values are not longer than 65,535 octets; the blocks of long ones may repeat.
            block &+= 1
        }
        return Array(result.prefix(count))
    }
}
