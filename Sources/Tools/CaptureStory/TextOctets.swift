import BluetoothTypes

/// Text in UTF-8 that is written piece by piece into one array.
struct TextOctets: Sendable {
    /// The text, and room for more.
    private var storage: [UInt8] = []
    private(set) var count = 0

    var octets: ArraySlice<UInt8> { storage[..<count] }

    /// Returns what `write` writes.
    static func string(_ write: (inout TextOctets) -> Void) -> String {
        var text = TextOctets()
        write(&text)
        return String(decoding: text.octets, as: UTF8.self)
    }

    mutating func append(_ octet: UInt8) {
        makeRoom(1)
        storage[count] = octet
        count += 1
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ packet: PacketBuffer) {
        packet.withUnsafeBytes { append($0) }
    }

    private mutating func append(_ octets: UnsafeRawBufferPointer) {
        makeRoom(octets.count)
        let start = count
        storage.withUnsafeMutableBytes {
            UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: octets)
        }
        count += octets.count
    }

    mutating func append(repeating octet: UInt8, count length: Int) {
        makeRoom(length)
        for index in count..<(count + length) { storage[index] = octet }
        count += length
    }

    /// Appends octets in lower-case hexadecimal.
    mutating func append(hexadecimal packet: PacketBuffer) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
        makeRoom(2 * packet.count)
        for octet in packet {
            storage[count] = digit(octet >> 4)
            storage[count + 1] = digit(octet & 0xF)
            count += 2
        }
    }

    /// Appends a number, with blanks or zeros in front.
    mutating func append(_ number: UInt64, width: Int = 1, filler: UInt8 = UInt8(ascii: "0")) {
        var (digits, bound) = (1, UInt64(10))
        while digits < 20, number >= bound {
            digits += 1
            // The least number of 20 digits is the last bound that 64 bits hold.
            bound = digits == 20 ? .max : bound * 10
        }
        if digits < width { append(repeating: filler, count: width - digits) }
        makeRoom(digits)
        var (rest, index) = (number, count + digits)
        while index > count {
            index -= 1
            storage[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Appends a duration as `StoryWords.time(_:)` returns it.
    mutating func append(microseconds: Int64) {
        let amount = max(0, microseconds)
        switch amount {
        case ..<1_000:
            append(UInt64(amount))
            append(" us")
        case ..<1_000_000: append(amount, per: 1_000, " ms")
        default: append(amount, per: 1_000_000, " s")
        }
    }

    /// Appends a quotient with one decimal, without `.0`.
    mutating func append(_ amount: Int64, per unit: Int64, _ name: String) {
        let tenths = UInt64((amount * 10 + unit / 2) / unit)
        append(tenths / 10)
        if tenths % 10 != 0 {
            append(UInt8(ascii: "."))
            append(tenths % 10)
        }
        append(name)
    }

    /// Escapes characters from an index on that a terminal would not show, as `String.visible` does.
    mutating func escape(from start: Int) {
        var index = start
        while index < count, storage[index] >= 0x20, storage[index] <= 0x7E { index += 1 }
        guard index < count else { return }
        let text = String(decoding: octets[start...], as: UTF8.self).visible
        count = start
        append(text)
    }

    /// Drops the text, and keeps the memory for another.
    mutating func removeAll() { count = 0 }

    private mutating func makeRoom(_ more: Int) {
        let missing = count + more - storage.count
        guard missing > 0 else { return }
        storage.append(contentsOf: repeatElement(0, count: max(missing, storage.count, 64)))
    }
}
