import Cryptography

/// The deterministic random bit generator of Channel Sounding (Core Vol 6 Part E 3.1). Both devices of a link draw the
/// same bits from it.
struct SoundingRandom: Hashable {
    /// The purpose of bits (3.1.6).
    enum Transaction: UInt8, CaseIterable {
        case channels = 0
        case mode0Channels = 1
        case subMode = 2
        case extensionSlots = 3
        case antennaPaths = 4
    }

    /// Bits of a transaction that were generated and not used yet.
    private struct Stock: Hashable {
        var step: UInt16 = 0
        var counter: UInt8 = 0
        var octets: ArraySlice<UInt8> = []
    }

    private(set) var key: Block128
    private(set) var nonce: Block128
    private var stocks = [Stock](repeating: Stock(), count: Transaction.allCases.count)

    /// Instantiates the generator: function h9. Each half of a value comes from one device.
    init(central: SoundingSecurityExchange, peripheral: SoundingSecurityExchange) {
        var input = Self.octets(peripheral.vector, central.vector)
        input += Self.octets(peripheral.nonce, central.nonce)
        input += Self.octets(peripheral.personalization, central.personalization)
        (key, nonce) = (.zero, .zero)
        update(Self.seed(from: input))
    }

    /// Makes it impossible to find earlier bits from the present state (3.1.8). Called before each procedure.
    mutating func advance() {
        update((.zero, .zero))
        stocks = [Stock](repeating: Stock(), count: Transaction.allCases.count)
    }

    /// Returns the next octet of a transaction in a step.
    mutating func octet(_ transaction: Transaction, step: UInt16) -> UInt8 {
        let index = Int(transaction.rawValue)
        if stocks[index].step != step { (stocks[index].step, stocks[index].counter) = (step, 0) }
        if stocks[index].octets.isEmpty {
            var block = nonce
            block[15] &+= stocks[index].counter
            block[14] &+= transaction.rawValue
            let steps = step &+ (UInt16(block[12]) << 8 | UInt16(block[13]))
            (block[12], block[13]) = (UInt8(steps >> 8), UInt8(truncatingIfNeeded: steps))
            stocks[index].octets = AES128(Key128(key)).encrypt(block).bytes[...]
            stocks[index].counter &+= 1
        }
        return stocks[index].octets.removeFirst()
    }

    /// Returns a number below `bound`: function hr1.
    mutating func number(below bound: UInt8, _ transaction: Transaction, step: UInt16) -> UInt8 {
        guard bound > 1 else { return 0 }
        let (range, first) = (UInt32(bound), UInt32(octet(transaction, step: step)))
        let product = range * first
        guard product & 0xFF < 256 % range else { return UInt8(truncatingIfNeeded: product >> 8) }
        let second = UInt32(octet(transaction, step: step))
        return UInt8(truncatingIfNeeded: (256 * second * range + product) >> 16)
    }

    /// Returns channels in random order: function cr1.
    mutating func shuffled(_ channels: [UInt8], _ transaction: Transaction, step: UInt16) -> [UInt8] {
        var result: [UInt8] = []
        for (index, channel) in channels.enumerated() {
            let other = Int(number(below: UInt8(truncatingIfNeeded: index + 1), transaction, step: step))
            if other == index {
                result.append(channel)
            } else {
                result.append(result[other])
                result[other] = channel
            }
        }
        return result
    }

    // MARK: Functions of the generator

    /// Function f7: chains the blocks of an input.
    private static func chain(_ key: Key128, _ input: [UInt8]) -> Block128 {
        let cipher = AES128(key)
        return stride(from: 0, to: input.count, by: 16).reduce(.zero) { chained, start in
            cipher.encrypt(chained ^ (Block128(input[start..<start + 16]) ?? .zero))
        }
    }

    /// Function f8: derives seed material from an input of 40 octets.
    private static func seed(from input: [UInt8]) -> (Block128, Block128) {
        let lengths: [UInt8] = [0, 0, 0, 0x28, 0, 0, 0, 0x20]
        let padded = lengths + input + [0x80] + [UInt8](repeating: 0, count: 15)
        let key = Key128(Block128(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F))
        let second = Key128(chain(key, Block128.zero.bytes + padded))
        let block = chain(key, Block128(high: 1 << 32, low: 0).bytes + padded)
        let high = AES128(second).encrypt(block)
        return (high, AES128(second).encrypt(high))
    }

    /// Function f9: renews the key and the nonce.
    private mutating func update(_ seed: (Block128, Block128)) {
        let cipher = AES128(Key128(key))
        nonce[15] &+= 1
        let first = cipher.encrypt(nonce)
        nonce[15] &+= 1
        let second = cipher.encrypt(nonce)
        (key, nonce) = (first ^ seed.0, second ^ seed.1)
    }

    private static func octets<T: FixedWidthInteger>(_ high: T, _ low: T) -> [UInt8] {
        [high, low].flatMap { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    }
}
