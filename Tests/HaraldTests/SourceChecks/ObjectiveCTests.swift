import Testing

@testable import harald

@Suite("Code that needs Objective-C")
struct ObjectiveCTests {
    @Test(
        "code that does not compile is reported by line, with advice",
        arguments: [
            ("@objc func a() {}", "@objc needs Objective-C: remove it, or use --adapt"),
            ("@objcMembers class A {}", "@objcMembers needs Objective-C: remove it, or use --adapt"),
            ("f(#selector(a))", "#selector needs Objective-C: use the variant that takes a closure"),
            ("f(#keyPath(A.b))", "#keyPath needs Objective-C: use a key path"),
            ("NSSelectorFromString(x)", "selectors need Objective-C"),
            ("protocol P {\n @objc optional func a()\n}", "an optional requirement needs Objective-C"),
            ("a.addObserver(b, forKeyPath: d)", "key-value coding needs Objective-C"),
            ("a.setValue(b, forKeyPath: d)", "key-value coding needs Objective-C"),
            ("a.observe(\\.status) {}", "key-value coding needs Objective-C"),
            ("observe(\\.model.title) {}", "key-value coding needs Objective-C"),
            ("a.publisher(for: \\.title)", "key-value coding needs Objective-C"),
            ("CFReadStreamSetProperty(a)", "Linux has no CFReadStreamSetProperty: use the streams of a CBL2CAPChannel"),
            ("f(kCFStreamPropertySocketNativeHandle)", "Linux has no kCFStreamPropertySocketNativeHandle"),
            ("autoreleasepool { f() }", "Linux has no autoreleasepool: use the stand-in, --with globals"),
            ("x(2 * NSEC_PER_SEC)", "Linux has no NSEC_PER_SEC: use the stand-in, --with globals"),
            ("a.delegate?.centralManager?(a, didConnect: b)", "centralManager?(…) needs Objective-C: call it without"),
            ("extension A { override func a() {} }", "overriding in an extension needs Objective-C"),
            ("@IBOutlet var a: B!", "@IBOutlet needs Interface Builder"),
            ("import UIKit", "Linux has no UIKit: put the code that needs it behind #if canImport(UIKit)"),
            ("import struct UIKit.UIColor", "Linux has no UIKit"),
            ("import Combine", "Linux has no Combine: use the stand-in, --with combine"),
            ("import os.log", "Linux has no os: use the stand-in, --with os"),
        ]
    )
    func sourcesThatDoNotCompile(source: String, message: String) {
        let found = findings(in: "\n" + source)
        #expect(found.count == 1, "\(found)")
        let line = source.contains("\n") ? 3 : 2
        #expect(found.first?.hasPrefix("App.swift:\(line): error: \(message)") == true, "\(found)")
    }

    @Test(
        "code that only works for some objects is a warning",
        arguments: [
            ("a.value(forKey: b)", "on Linux only Core Bluetooth's objects, dictionaries and user defaults"),
            ("self.value(forKey: \"title\")", "on Linux only Core Bluetooth's objects"),
            ("value(forKey: \"title\")", "on Linux only Core Bluetooth's objects"),
            ("a.setValue(b(c), forKey: d)", "on Linux only Core Bluetooth's objects"),
            ("a.value(forKeyPath: b)", "on Linux only dictionaries have values for key paths"),
        ]
    )
    func sourcesThatWorkForSomeObjects(source: String, message: String) {
        let found = findings(in: source)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("App.swift:1: warning: \(message)") == true, "\(found)")
    }

    @Test("with the stand-in globals, what it has is not reported")
    func globals() {
        let source = "autoreleasepool { f(a.value(forKeyPath: b), NSEC_PER_SEC) }"
        #expect(findings(in: source, standIns: ["globals"]) == [])
    }

    @Test("a name that the package declares itself is its own")
    func ownNames() {
        #expect(findings(in: "let NSEC_PER_SEC = 1\nf(NSEC_PER_SEC, A.OSStatus)") == [])
    }

    @Test("places of one cause are one line, errors first")
    func causes() {
        let source = "#if os(iOS)\nf()\n#endif\n" + String(repeating: "@objc func a() {}\n", count: 6)
        let found = SourceCheck(
            [SourceFile(name: "A.swift", text: source)],
            interface: [],
            modules: Modules()
        ).findings
        let causes = SourceCause.of(found)
        #expect(found.count == 7)
        #expect(causes.map(\.places.count) == [6, 1])
        #expect(causes[0].description.hasPrefix("A.swift:4: error: @objc needs Objective-C"))
        #expect(causes[0].description.hasSuffix(" (and at 5 more: A.swift:5, A.swift:6, A.swift:7, …)"))
        #expect(causes[1].description.hasPrefix("A.swift:1: warning: 1 line behind #if os(iOS)"))
    }

    @Test(
        "code that compiles is not reported",
        arguments: [
            "a.observe(\\.state) {}", "a.observe(\\CBCentralManager.isScanning) {}", "a.publisher(for: \\.isNotifying)",
            "a.value(forKey: \"identifier\")", "center.publisher(for: .name)", "func observe(a: B)",
            "onChange?(x)", "a.onChange?(x)", "request.setValue(a, forHTTPHeaderField: b)", "center.observe(x)",
            "class A { override func a() {} }", "extension A { class B: C { override func a() {} } }",
            "import CoreBluetooth",
            "import Theirs", "let objc = 1", "f(forKey: a.value(b))", "let optional = func1", "@nonobjc func a() {}",
        ]
    )
    func sourcesThatCompile(source: String) {
        #expect(findings(in: source) == [])
    }

    @Test func aStandInThatWasAskedForIsNotMissed() {
        #expect(findings(in: "import OSLog\nimport os.log", standIns: ["os"]) == [])
    }
}
