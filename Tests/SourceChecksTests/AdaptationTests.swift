import Testing

@testable import SourceChecks

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
        "everything else stays unchanged, to the octet",
        arguments: [
            "// @objc", "\"@objc\"", "f(#selector(a))", "@MainActor class A {}", "@nonobjc func a() {}", "a\r\n\tb\n\n",
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

    @Test func whatIsAdaptedHasNoFindingsOfThisKind() {
        let source = "@objcMembers class A {\n  @objc func a() {}\n}\n"
        #expect(findings(in: source).count == 2)
        #expect(findings(in: adapted(source)) == [])
    }
}
