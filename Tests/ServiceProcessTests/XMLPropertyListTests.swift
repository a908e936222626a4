import Testing

@testable import ServiceProcess

/// Property lists in XML, down to the octet.
@Suite struct XMLPropertyListTests {
    private func list(_ text: String) throws -> [String: Any] { try PropertyList.dictionary(Array(text.utf8)) }

    private func value(_ element: String) throws -> Any? {
        try list("<plist><dict><key>k</key>\(element)</dict></plist>")["k"]
    }

    private func fault(_ text: String) -> String? {
        do throws(PropertyList.Fault) {
            _ = try PropertyList.dictionary(Array(text.utf8))
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func faultOfValue(_ element: String) -> String? {
        fault("<plist><dict><key>k</key>\(element)</dict></plist>")
    }

    @Test("white space of all four kinds stands between tags, and nothing else does")
    func whiteSpace() throws {
        for space in [" ", "\t", "\n", "\r", "\r\n \t"] {
            let text =
                "\(space)<?xml?>\(space)<!DOCTYPE plist>\(space)<plist>\(space)<dict>\(space)<key>k</key>\(space)<true/>\(space)</dict>"
            #expect(try list(text)["k"] as? Bool == true, "\(space.utf8.map { $0 })")
        }
        for other in ["\u{0B}", "\u{0C}", "\u{08}", "x", "\u{A0}"] {
            #expect(
                fault("<plist><dict>\(other)</dict></plist>") == "it contains text in place of a tag",
                "\(other.utf8.map { $0 })"
            )
        }
    }

    @Test("comments, instructions and a document type stand before the list, in any order")
    func prolog() throws {
        #expect(try list("<!-- a > b --><?x ?><?y > ?><!-- c --><!DOCTYPE plist><plist><dict/></plist>").isEmpty)
        #expect(fault("<!-- <plist><dict/></plist>") == "it is truncated")
        #expect(fault("<?xml <plist><dict/></plist>") == "it is truncated")
        #expect(fault("<!DOCTYPE plist [ ]><plist><dict/></plist>") == "its document type contains definitions")
        for text in ["<plist/>", "</plist><dict/>", "<dict/>", "<list><dict/></list>"] {
            #expect(fault(text) == "it is not a property list", "\(text)")
        }
        // A mark of the order of octets is passed, and half of one is text.
        #expect(try PropertyList.dictionary([0xEF, 0xBB, 0xBF] + Array("<plist><dict/>".utf8)).isEmpty)
        #expect(throws: PropertyList.Fault.self) {
            try PropertyList.dictionary([0xEF, 0xBB] + Array("<plist><dict/>".utf8))
        }
    }

    @Test("numbers are read as they stand, and what is none is of no use")
    func numbers() throws {
        #expect(try value("<integer>\n 4 2 </integer>") as? Int == 42)
        #expect(try value("<integer>x</integer>") is PropertyList.Other)
        #expect(try value("<real>-2.5e1</real>") as? Double == -25)
        #expect(try value("<real>x</real>") is PropertyList.Other)
        #expect(try value("<date>2026-01-01T00:00:00Z</date>") is PropertyList.Other)
        #expect(try value("<data/>") is PropertyList.Other)
        #expect(try value("<true>yes</true>") as? Bool == true && value("<false/>") as? Bool == false)
    }

    @Test("characters are named, or numbered in tens or sixteens, and nothing else is an entity")
    func entities() throws {
        #expect(try value("<string>&amp;&lt;&gt;&quot;&apos;</string>") as? String == "&<>\"'")
        #expect(try value("<string>&#65;&#x41;&#x1F600;&#x0001F600;</string>") as? String == "AA\u{1F600}\u{1F600}")
        for name in ["nope", "", "#", "#x", "#xG", "#1A", "#xD800", "#x110000", "x41", "65"] {
            #expect(faultOfValue("<string>&\(name);</string>") == "it contains an unknown entity", "\(name)")
        }
        #expect(faultOfValue("<string>&#x00001F600;</string>") == "it is truncated")
        #expect(faultOfValue("<string>&amp</string>") == "it is truncated")
    }

    @Test("comments and unparsed parts stand within a text, which ends with its own tag")
    func texts() throws {
        #expect(
            try value("<string>a<!-- <b> -->c<![CDATA[</string>&amp;]]>d</string>") as? String == "ac</string>&amp;d"
        )
        #expect(try value("<string></string>") as? String == "")
        #expect(try value("<string>a > b</string >") as? String == "a > b")
        for text in ["<string>a</key>", "<string>a<string>", "<string>a</strin>"] {
            #expect(faultOfValue(text) == "</string> is missing", "\(text)")
        }
        for text in ["<string>a", "<string>a<![CDATA[b", "<string>a<!-- b"] {
            #expect(fault("<plist><dict><key>k</key>\(text)") == "it is truncated", "\(text)")
        }
    }

    @Test("tags have names of letters, up to 16, and attributes that nothing depends on")
    func tags() throws {
        let long = String(repeating: "a", count: 16)
        #expect(faultOfValue("<\(long)/>") == "<\(long)> is not an element of property lists")
        #expect(faultOfValue("<\(long)a/>") == "it contains a tag with an invalid name")
        #expect(faultOfValue("<aZ/>") == "<aZ> is not an element of property lists")
        #expect(faultOfValue("<Az/>") == "<Az> is not an element of property lists")
        for name in ["", "1", "@a", "[a", "`a", "{a", " a"] {
            #expect(faultOfValue("<\(name)/>") == "it contains a tag with an invalid name", "\(name)")
        }
        #expect(try list("<plist version=\"/>\" x='/>' y><dict z=\"'\" /></plist>").isEmpty)
        #expect(try value("<array w=1></array w>") as? [String] == [])
        #expect(fault("<plist version=\"1.0><dict/></plist>") == "it is truncated")
        #expect(fault("<plist version='1.0><dict/></plist>") == "it is truncated")
        #expect(fault("<plist <dict/></plist>") == "it contains an unterminated tag")
        #expect(fault("<plist><dict") == "it contains an unterminated tag")
        #expect(fault("<plist><dict/") == "it contains an unterminated tag")
    }

    @Test("a dictionary has a key and a value by turns, and what is opened is closed")
    func dictionaries() throws {
        #expect(try list("<plist><dict><key>a</key><true/><key>b</key><false/></dict></plist>").count == 2)
        #expect(try list("<plist><dict><key/><true/></dict></plist>")[""] as? Bool == true)
        for text in ["<dict><true/></dict>", "<dict></key></dict>", "<dict></array>"] {
            #expect(fault("<plist>\(text)</plist>") == "<key> is missing", "\(text)")
        }
        #expect(fault("<plist><dict><key>a</key></dict></plist>") == "</dict> has no opening tag")
        #expect(faultOfValue("<array></dict></array>") == "</dict> has no opening tag")
        #expect(try value("<array><true/><array/></array>") as? [Any] != nil)
        #expect(fault("<plist><array/></plist>") == "it is not a dictionary")
        #expect(fault("<plist>") == "it contains text in place of a tag")
    }

    @Test("AB-G05: 16 values within one another are read, and 17 are not, keys among them")
    func nesting() {
        func arrays(_ count: Int) -> String {
            String(repeating: "<array>", count: count) + String(repeating: "</array>", count: count)
        }
        #expect(faultOfValue(arrays(16)) == nil)
        #expect(faultOfValue(arrays(17)) == "it is nested more than 16 levels deep")
        func dictionaries(_ count: Int) -> String {
            String(repeating: "<dict><key>k</key>", count: count) + "<true/>"
                + String(repeating: "</dict>", count: count)
        }
        #expect(fault("<plist>\(dictionaries(16))</plist>") == nil)
        #expect(fault("<plist>\(dictionaries(17))</plist>") == "it is nested more than 16 levels deep")
    }

    @Test("AB-G05: the octets of a text count, those of keys too")
    func weight() {
        // The dictionary, its value, and each text with its octets.
        func list(_ octets: Int) -> String {
            "<plist><dict><key>k</key><string>\(String(repeating: "a", count: octets))</string></dict></plist>"
        }
        #expect(fault(list((1 << 21) - 5)) == nil)
        #expect(fault(list((1 << 21) - 4)) == "it expands to more than 2097152 values and octets")
    }
}
