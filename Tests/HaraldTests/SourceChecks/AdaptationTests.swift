import Testing

@testable import harald

@Suite("A source without Objective-C's attributes")
struct AdaptationTests {
    private func adapted(_ text: String) -> String {
        Adaptation(SourceFile(name: "App.swift", text: text)).adapted.text
    }

    @Test(
        arguments: [
            ("@objc func a() {}", "func a() {}"),
            ("@objc  public func a() {}", "public func a() {}"),
            ("@objc(Name) class A {}", "class A {}"),
            ("@objc(name:of:) func a() {}", "func a() {}"),
            ("@objcMembers final class A {}", "final class A {}"),
            ("@objc\nfunc a() {}", "\nfunc a() {}"),
            ("@objc private var x = (1)", "private var x = (1)"),
            ("é\n  @objc var x", "é\n  var x"),
        ]
    )
    func attributesAreTakenAway(source: String, result: String) {
        #expect(adapted(source) == result)
    }

    @Test(
        "a class-bound protocol stays class-bound, so that a delegate may be weak",
        arguments: [
            ("@objc public protocol P { func a() }", "public protocol P: AnyObject { func a() }"),
            ("@objc(HRD) protocol P: Q {}", "protocol P: AnyObject, Q {}"),
            ("@objc protocol P: AnyObject {}", "protocol P: AnyObject {}"),
            ("@objc\nprotocol P : class, Q {}", "\nprotocol P : class, Q {}"),
            ("@objc protocol P\n{\n}", "protocol P: AnyObject\n{\n}"),
            ("@objc class A: P {}", "class A: P {}"),
        ]
    )
    func protocolsStayForClasses(source: String, result: String) {
        #expect(adapted(source) == result)
    }

    @Test(
        "a selector becomes a reference to the method",
        arguments: [
            ("class A { let s = #selector(tick) }", "class A { let s = Selector(Self.tick) }"),
            ("class A { let s = #selector(tick(_:)) }", "class A { let s = Selector(Self.tick(_:)) }"),
            ("class A { func f() { g(#selector(self.tick)) } }", "class A { func f() { g(Selector(Self.tick)) } }"),
            ("extension A { var s: B { #selector(A.C.tick) } }", "extension A { var s: B { Selector(A.C.tick) } }"),
        ]
    )
    func selectorsBecomeReferences(source: String, result: String) {
        #expect(adapted(source) == result)
    }

    @Test("an optional method gets a default, and is called as any other")
    func optionalMethods() {
        let source = """
            @objc public protocol P {
                @objc optional func a(_ b: B,
                                      c: C)
                @objc optional func d() -> Int
                func e()
            }
            class X { func f() { p?.a?(b, c: c); p?.d?(); q?.peripheralDidUpdateName?(r) } }
            """
        let result = """
            public protocol P: AnyObject {
                func a(_ b: B,
                                      c: C)
                optional func d() -> Int
                func e()
            }; extension P { public func a(_ b: B, c: C) {} }
            class X { func f() { p?.a(b, c: c); p?.d?(); q?.peripheralDidUpdateName(r) } }
            """
        let adapted = Adaptation.of([SourceFile(name: "App.swift", text: source)])
        #expect(adapted[0].adapted.text == result)
    }

    @Test(
        "an observation through a property of one's own observes the object in it",
        arguments: [
            (
                "o = observe(\\.manager?.isScanning, options: [.new]) { _, c in }",
                "o = NSKeyValueObservation.observe(self, throughOptional: { $0.manager }, \\.isScanning, options: [.new]) { _, c in }"
            ),
            (
                "self.observe(\\.a.state) { f($0) }",
                "NSKeyValueObservation.observe(self, through: { $0.a }, \\.state) { f($0) }"
            ),
            (
                "observe(\\Kit.a?.b!.name) {}",
                "NSKeyValueObservation.observe(self, throughOptional: { $0.a?.b! }, \\.name) {}"
            ),
            (
                "observe(\\.a!.services) {}", "NSKeyValueObservation.observe(self, through: { $0.a! }, \\.services) {}"
            ),
        ]
    )
    func observationsThroughProperties(source: String, result: String) {
        #expect(adapted(source) == result)
        #expect(findings(in: source).count == 1)
        #expect(findings(in: result) == [])
    }

    @Test(
        "os(iOS) holds in the named files alone",
        arguments: [
            ("#if os(iOS)\na()\n#endif", "#if (os(iOS) || os(Linux))\na()\n#endif"),
            (
                "#if DEBUG && !os(iOS)\n#elseif os(iOS) || os(tvOS)\n#endif",
                "#if DEBUG && !(os(iOS) || os(Linux))\n#elseif (os(iOS) || os(Linux)) || os(tvOS)\n#endif"
            ),
            ("#if os(macOS)\n#endif\nlet os = os(iOS)", "#if os(macOS)\n#endif\nlet os = os(iOS)"),
            ("@available(iOS 13, *) func a() {}", "@available(iOS 13, *) func a() {}"),
        ]
    )
    func conditionsForIOS(source: String, result: String) {
        let files = ["Sources/Kit/A.swift", "Sources/Kit.swift", "Sources/Other/Kit/A.swift"].map {
            SourceFile(name: $0, text: source)
        }
        for path in ["Sources/Kit", "./Sources/Kit/", "Sources/Kit/A.swift"] {
            let adapted = Adaptation.of(files, forIOS: [path])
            #expect(adapted.map(\.adapted.text) == [result, source, source])
        }
        #expect(findings(in: result).filter { $0.contains("os(iOS) || os(Linux)") } == [])
    }

    @Test("imports of Objective-C's runtime are removed")
    func runtimeImports() {
        #expect(adapted("import ObjectiveC\nimport ObjectiveC.runtime\nlet a = 1") == "\n\nlet a = 1")
        #expect(findings(in: "import ObjectiveC")[0].contains("--with globals has associated objects"))
    }

    @Test("a debug description in an extension overrides nothing")
    func debugDescriptions() {
        let source = "extension A {\n  open override var debugDescription: String { \"a\" }\n}"
        #expect(
            adapted(source) == "extension A {\n  public var debugDescriptionInExtension: String { \"a\" }\n}"
        )
    }

    @Test(
        "everything else stays unchanged, to the octet",
        arguments: [
            "observe(\\.state) {}", "a.observe(\\.b.state) {}", "func observe(\\.a.state)", "observe(\\.a.b) {}",
            "// @objc", "\"@objc\"", "f(#selector(a))", "a.other?(b)", "class A { func f() { g(#selector(b.tick)) } }",
            "class A { override var debugDescription: String }", "extension A { override var hash: Int }",
            "@MainActor class A {}", "@nonobjc func a() {}", "a\r\n\tb\n\n",
        ]
    )
    func allElseStays(source: String) {
        #expect(adapted(source) == source)
    }

    @Test func theDifferenceShowsEachLineWithItsNumber() {
        let adaptation = Adaptation(SourceFile(name: "App.swift", text: "let a = 1\n  @objc var b = 2\n"))
        #expect(
            adaptation.difference == "--- App.swift\n+++ App.swift\n@@ -2 +2 @@\n-  @objc var b = 2\n+  var b = 2\n"
        )
        #expect(Adaptation(adaptation.adapted).difference.isEmpty)
    }

    @Test func adaptedSourcesHaveNoFindings() {
        let source = "@objcMembers class A {\n  @objc func a() {}\n}\n"
        #expect(findings(in: source).count == 2)
        #expect(findings(in: adapted(source)) == [])
    }
}
