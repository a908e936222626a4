import EventLoops
import Foundation
import Testing

@testable import ServiceProcess

/// Property lists that apps supply.
@Suite struct PropertyListTests {
    private let example: [String: Any] = [
        "CFBundleIdentifier": "com.example.app", "CFBundleDisplayName": "Zoë & <Co> \u{1F600}", "HaraldManaged": true,
        "HaraldLaunch": ["/opt/app", "a b", "'\""], "UIBackgroundModes": [String](), "No": false,
        "Version": 258, "Nested": ["one": ["two": "three"]], "Empty": "",
    ]

    private func octets(_ format: PropertyListSerialization.PropertyListFormat, _ list: Any) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
    }

    @Test(
        "both formats are read as Foundation writes them",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary]
    )
    func bothForms(_ format: PropertyListSerialization.PropertyListFormat) throws {
        let list = try PropertyList.dictionary(try octets(format, example))
        #expect(list.count == example.count)
        for key in ["CFBundleIdentifier", "CFBundleDisplayName", "Empty"] {
            #expect(list[key] as? String == example[key] as? String, "\(key)")
        }
        #expect(
            list["HaraldManaged"] as? Bool == true && list["No"] as? Bool == false && list["Version"] as? Int == 258
        )
        #expect(list["HaraldLaunch"] as? [String] == ["/opt/app", "a b", "'\""])
        #expect((list["UIBackgroundModes"] as? [String])?.isEmpty == true)
        #expect((list["Nested"] as? [String: [String: String]]) == ["one": ["two": "three"]])
        let mixed = try PropertyList.dictionary(
            try octets(format, ["a": ["b", Data([1])] as [Any], "d": Date(), "r": 1.5])
        )
        #expect(mixed["a"] as? [String] == nil && mixed["d"] is PropertyList.Other)
    }

    @Test("handwritten lists are read: comments, character references, CDATA, attributes, empty elements")
    func byHand() throws {
        let text = """
            \u{FEFF}<?xml version='1.0' encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- made by hand -->
            <plist version="1.0"><dict>
              <key>a<!-- b --></key> <string>&lt;x&gt; &amp; &#228;&#x1F600;<![CDATA[<&]]></string>
              <!-- more --><key>b</key><true /><key>c</key><false></false><key>d</key><array/><key>e</key><dict/><key>f</key><string/>
              <key>g</key><integer> -7 </integer><key>h</key><real>0.5</real><key>i</key><data>AAAA</data>
            </dict></plist>
            """
        let list = try PropertyList.dictionary(Array(text.utf8))
        #expect(
            list["a"] as? String == "<x> & ä\u{1F600}<&" && list["b"] as? Bool == true && list["c"] as? Bool == false
        )
        #expect((list["d"] as? [Any])?.isEmpty == true && (list["e"] as? [String: Any])?.isEmpty == true)
        #expect(list["f"] as? String == "" && list["g"] as? Int == -7 && list["h"] as? Double == 0.5)
    }

    /// A binary property list of nested arrays, each of which contains the next one `width` times.
    private func bomb(depth: Int, width: Int, isCyclic: Bool = false) -> [UInt8] {
        var octets = BinaryPropertyList.mark
        var offsets: [UInt8] = []
        for index in 0..<depth {
            offsets.append(UInt8(octets.count))
            let next = isCyclic ? 0 : UInt8(index + 1)
            octets += [0xA0 | UInt8(width)] + [UInt8](repeating: next, count: width)
        }
        offsets.append(UInt8(octets.count))
        octets += [0x51, 0x41]
        let table = octets.count
        let last: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1]
        func number(_ value: Int) -> [UInt8] { [UInt8](repeating: 0, count: 7) + [UInt8(value)] }
        return octets + offsets + last + number(offsets.count) + number(0) + number(table)
    }

    @Test(
        "AB-G05: a list that expands without limit is refused at once: doubling arrays, cycles, repeated long texts, entities"
    )
    func bombs() {
        let doubling = bomb(depth: 15, width: 14)
        #expect(doubling.count < 300)
        #expect(PropertyList.fault(doubling)?.contains("expands") == true)
        #expect(PropertyList.fault(bomb(depth: 24, width: 2))?.contains("nested") == true)
        #expect(PropertyList.fault(bomb(depth: 1, width: 1, isCyclic: true))?.contains("nested") == true)
        #expect(PropertyList.fault(bomb(depth: 2, width: 1))?.contains("not a dictionary") == true)
        let entities = "<!DOCTYPE plist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><plist><dict/></plist>"
        #expect(PropertyList.fault(Array(entities.utf8))?.contains("contains definitions") == true)
        for element in ["array", "dict"] {
            let nested = String(repeating: element == "dict" ? "<dict><key>a</key>" : "<array>", count: 100_000)
            #expect(PropertyList.fault(Array("<plist>\(nested)".utf8))?.contains("nested") == true)
        }
    }

    @Test("AB-G05: a long text counts once per reference")
    func textsThatAreRepeated() throws {
        // An array that refers to one text of 16 KiB two hundred times.
        var octets = BinaryPropertyList.mark
        let start = octets.count
        octets += [0xAF, 0x10, 200] + [UInt8](repeating: 1, count: 200)
        let text = octets.count
        octets += [0x5F, 0x11, 0x40, 0x00] + [UInt8](repeating: 0x41, count: 0x4000)
        let table = octets.count
        func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        octets += [start, text].flatMap { number($0).suffix(2) }
        octets += [0, 0, 0, 0, 0, 0, 2, 1] + number(2) + number(0) + number(table)
        #expect(PropertyList.fault(octets)?.contains("expands") == true)
    }

    @Test("AB-G05: truncated, changed and random lists are read or refused without a trap")
    func malformedListsDoNotTrap() throws {
        let random = RandomSource(seed: 25)
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let whole = try octets(format, example)
            for length in 0..<whole.count { _ = PropertyList.fault(Array(whole.prefix(length))) }
            #expect(PropertyList.fault(Array(whole.prefix(whole.count - 40))) != nil)
            for _ in 0..<20_000 {
                var changed = whole
                for _ in 0..<1 + random.below(4) {
                    changed[Int(random.below(UInt64(changed.count)))] = UInt8(truncatingIfNeeded: random.next())
                }
                _ = PropertyList.fault(changed)
            }
        }
        for text in [
            "", "<", "<plist>", "<plist><dict>", "<plist><dict><key>", "plist", "<plist/>", "<plist><array/></plist>",
            "<plist><dict><string/></dict></plist>", "<plist><dict><key>a</key></dict></plist>",
            "<plist></dict></plist>",
            "<plist><dict><key>a</key><what/></dict></plist>", "<plist><dict><key>&nope;</key><true/></dict></plist>",
            "<plist><dict><key>&#x110000;</key><true/></dict></plist>",
            "<plist><dict><key>a</string><true/></dict></plist>",
        ] {
            #expect(PropertyList.fault(Array(text.utf8)) != nil, "\(text)")
        }
    }
}

extension PropertyList {
    /// The text of the error that these octets cause; nil if they can be read.
    static func fault(_ octets: [UInt8]) -> String? {
        do throws(PropertyList.Fault) {
            _ = try PropertyList.dictionary(octets)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
