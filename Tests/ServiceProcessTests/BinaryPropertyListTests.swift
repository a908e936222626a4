import Testing

@testable import ServiceProcess

/// Binary property lists, made by hand where Foundation would not write them.
@Suite struct BinaryPropertyListTests {
    /// A list of objects, the first of which is the top one.
    private struct Plist {
        var objects: [[UInt8]]
        var top = 0
        var offsetSize = 1
        var referenceSize = 1
        /// The fields of the trailer. Nil stands for the correct value.
        var count: Int?
        /// Octets between the table and the trailer.
        var padding = 0

        static func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
        }

        var octets: [UInt8] {
            var (octets, offsets): ([UInt8], [UInt8]) = (BinaryPropertyList.mark, [])
            for object in objects {
                offsets += Self.number(octets.count, offsetSize)
                octets += object
            }
            let table = octets.count
            octets += offsets + [UInt8](repeating: 0, count: padding)
            octets += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
            return octets + Self.number(count ?? objects.count, 8) + Self.number(top, 8) + Self.number(table, 8)
        }

        /// A dictionary with the value under "k".
        static func of(_ value: [UInt8], others: [[UInt8]] = []) -> Plist {
            Plist(objects: [[0xD1, 1, 2], [0x51, 0x6B], value] + others)
        }
    }

    private func value(_ object: [UInt8]) throws -> Any? {
        try PropertyList.dictionary(Plist.of(object).octets)["k"]
    }

    @Test("numbers of one, two, four and eight octets read as they are, and others are of no use")
    func numbers() throws {
        #expect(try value([0x10, 0xFE]) as? Int == 0xFE)
        #expect(try value([0x11, 0x01, 0x02]) as? Int == 0x102)
        #expect(try value([0x12, 1, 2, 3, 4]) as? Int == 0x0102_0304)
        #expect(try value([0x13, 1, 2, 3, 4, 5, 6, 7, 8]) as? Int == 0x0102_0304_0506_0708)
        #expect(
            PropertyList.fault(Plist.of([0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]).octets)
                == "it contains a number that is too large"
        )
        #expect(try value([0x14] + [UInt8](repeating: 0, count: 16)) is PropertyList.Other)
        #expect(try value([0x08]) as? Bool == false && value([0x09]) as? Bool == true)
        for other: UInt8 in [0x00, 0x0A, 0x0F, 0x33, 0x40, 0x80] {
            #expect(try value([other, 0, 0, 0, 0, 0, 0, 0, 0]) is PropertyList.Other, "\(other)")
        }
    }

    @Test("texts have their length in four bits, or in a number of any width behind them")
    func lengthsOfTexts() throws {
        let letters = Array("abcdefghijklmno".utf8)
        #expect(try value([0x50]) as? String == "" && value([0x5E] + letters.dropLast()) as? String == "abcdefghijklmn")
        for (mark, width) in [(0x10, 1), (0x11, 2), (0x12, 4), (0x13, 8)] as [(UInt8, Int)] {
            #expect(
                try value([0x5F, mark] + Plist.number(15, width) + letters) as? String == "abcdefghijklmno",
                "\(width)"
            )
        }
        #expect(try value([0x62, 0x00, 0x61, 0x01, 0x02]) as? String == "a\u{102}")
        #expect(try value([0x62, 0xD8, 0x3D, 0xDE, 0x00]) as? String == "\u{1F600}")
        for mark: UInt8 in [0x14, 0x1F, 0x20, 0x00] {
            #expect(
                PropertyList.fault(Plist.of([0x5F, mark, 0, 0]).octets) == "it contains an invalid length",
                "\(mark)"
            )
        }
        // The length would be in the table.
        #expect(PropertyList.fault(Plist.of([0x5F]).octets) == "it contains an invalid length")
    }

    @Test("AB-G05: an object is no longer than the objects of its list")
    func objectsThatAreTooLong() throws {
        #expect(try value([0x52, 0x61, 0x62]) as? String == "ab")
        for object: [UInt8] in [[0x53, 0x61, 0x62], [0x61, 0x00], [0xA1], [0xD1, 1]] {
            #expect(
                PropertyList.fault(Plist.of(object).octets) == "it contains an object that is longer than the list",
                "\(object)"
            )
        }
        #expect(try (value([0xA2, 1, 1]) as? [String]) == ["k", "k"])
        // A length that begins where the objects end.
        #expect(
            PropertyList.fault(Plist.of([0x5F, 0x11, 0]).octets) == "it contains an object that is longer than the list"
        )
    }

    @Test("a dictionary with more than fourteen keys, wide offsets and wide references")
    func widths() throws {
        let keys = (0..<20).map { [0x51, UInt8(0x61 + $0)] as [UInt8] }
        for size in [1, 2, 3, 8] {
            var list = Plist(objects: [], offsetSize: size, referenceSize: size)
            let references = (1...20).map { Plist.number($0, size) } + (0..<20).map { Plist.number(21 + $0 % 2, size) }
            list.objects = [[0xDF, 0x10, 20] + references.joined()] + keys + [[0x09], [0x10, 7]]
            let found = try PropertyList.dictionary(list.octets)
            #expect(found.count == 20 && found["a"] as? Bool == true && found["t"] as? Int == 7, "\(size)")
        }
        for size in [0, 9] {
            var list = Plist.of([0x09])
            // The table has a place even if its offsets have no octets.
            list.padding = 1
            list.offsetSize = size
            #expect(PropertyList.fault(list.octets) == "its object table is invalid", "\(size)")
            list.offsetSize = 1
            list.referenceSize = size
            #expect(PropertyList.fault(list.octets) == "its object table is invalid", "\(size)")
        }
    }

    @Test("AB-G05: a table that is cut, an object outside of the objects, and a reference to none are refused")
    func tablesAndReferences() throws {
        var list = Plist.of([0x09])
        list.count = 4
        #expect(PropertyList.fault(list.octets) == "its object table is invalid")
        list.padding = 1
        #expect(PropertyList.fault(list.octets) == nil)
        for count in [1 << 20, 1 << 62] {
            list.count = count
            #expect(PropertyList.fault(list.octets) == "its object table is invalid", "\(count)")
        }
        #expect(
            PropertyList.fault(Plist(objects: [[0xD0]], top: 1).octets) == "it refers to an object that does not exist"
        )
        #expect(
            PropertyList.fault(Plist(objects: [[0xD1, 1, 2], [0x50]]).octets)
                == "it refers to an object that does not exist"
        )
        #expect(PropertyList.fault(Plist(objects: [[0xD0]]).octets) == nil)
        var octets = Plist(objects: [[0xD0]]).octets
        // The one object where its table is.
        octets[9] = 9
        #expect(PropertyList.fault(octets) == "the offset of an object is out of range")
        #expect(
            PropertyList.fault(Plist(objects: [[0xD1, 1, 2], [0x09], [0x09]]).octets)
                == "it contains a key that is not a string"
        )
        #expect(PropertyList.fault(Plist(objects: [[0xA0]]).octets) == "it is not a dictionary")
        // The table in the trailer.
        octets = Plist(objects: [[0xD0]]).octets
        octets[octets.count - 1] = UInt8(octets.count - 32)
        #expect(PropertyList.fault(octets) == "its object table is invalid")
    }

    @Test("AB-G05: what has no room for a trailer is cut")
    func noRoomForATrailer() {
        let short = BinaryPropertyList.mark + [UInt8](repeating: 0, count: 31)
        #expect(PropertyList.fault(short) == "it is truncated")
        #expect(PropertyList.fault(short + [0]) == "its object table is invalid")
    }

    @Test("AB-G05: 16 values within one another are read, and 17 are not")
    func nesting() {
        // A dictionary, and arrays within it.
        func nested(_ arrays: Int) -> [UInt8] {
            let inner =
                (0..<arrays).map { index in index + 1 < arrays ? [0xA1, UInt8(index + 3)] : [0xA0] } as [[UInt8]]
            return Plist(objects: [[0xD1, 1, 2], [0x51, 0x6B]] + inner).octets
        }
        #expect(PropertyList.fault(nested(16)) == nil)
        #expect(PropertyList.fault(nested(17)) == "it is nested more than 16 levels deep")
    }

    @Test("AB-G05: a list weighs what its values and texts do, once for each reference, up to two million")
    func weight() {
        // The dictionary, its key with its octet, the text with its octets, and the octets of each text once more.
        func list(_ octets: Int) -> [UInt8] {
            let text = [0x5F, 0x12] + Plist.number(octets, 4) + [UInt8](repeating: 0x61, count: octets)
            var list = Plist.of(text)
            list.offsetSize = 4
            return list.octets
        }
        #expect(PropertyList.fault(list((1 << 21) - 6)) == nil)
        #expect(PropertyList.fault(list((1 << 21) - 5)) == "it expands to more than 2097152 values and octets")
    }
}
