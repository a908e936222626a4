import Testing

@testable import SourceChecks

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
            ("a.value(forKey: b)", "key-value coding needs Objective-C"),
            ("a.setValue(b(c), forKey: d)", "key-value coding needs Objective-C"),
            ("a.addObserver(b, forKeyPath: d)", "key-value coding needs Objective-C"),
            ("a.observe(\\.state) {}", "key-value coding needs Objective-C"),
            ("a.delegate?.centralManager?(a, didConnect: b)", "centralManager?(…) needs Objective-C: call it without"),
            ("extension A { override func a() {} }", "overriding in an extension needs Objective-C"),
            ("@IBOutlet var a: B!", "@IBOutlet needs Interface Builder"),
            ("import UIKit", "Linux has no UIKit: put the code that needs it behind #if canImport(UIKit)"),
            ("import struct UIKit.UIColor", "Linux has no UIKit"),
            ("import Combine", "Linux has no Combine: use the stand-in, --with combine"),
            ("import os.log", "Linux has no os: use the stand-in, --with os"),
        ]
    )
    func whatDoesNotCompile(source: String, message: String) {
        let found = findings(in: "\n" + source)
        #expect(found.count == 1, "\(found)")
        let line = source.contains("\n") ? 3 : 2
        #expect(found.first?.hasPrefix("App.swift:\(line): error: \(message)") == true, "\(found)")
    }

    @Test(
        "code that compiles is not reported",
        arguments: [
            "onChange?(x)", "a.onChange?(x)", "request.setValue(a, forHTTPHeaderField: b)", "center.observe(x)",
            "class A { override func a() {} }", "extension A { class B: C { override func a() {} } }",
            "import CoreBluetooth",
            "import Theirs", "let objc = 1", "f(forKey: a.value(b))", "let optional = func1", "@nonobjc func a() {}",
        ]
    )
    func whatCompiles(source: String) {
        #expect(findings(in: source) == [])
    }

    @Test func aStandInThatWasAskedForIsNotMissed() {
        #expect(findings(in: "import OSLog\nimport os.log", standIns: ["os"]) == [])
    }
}
