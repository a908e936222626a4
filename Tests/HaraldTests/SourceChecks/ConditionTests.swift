import Foundation
import Testing

@testable import harald

@Suite("Code compiled on Linux")
struct ConditionTests {
    @Test(
        arguments: [
            ("os(iOS)", false), ("os(Linux)", true), ("!os(Linux)", false), ("os(iOS) || os(macOS)", false),
            ("os(iOS) || DEBUG", nil), ("os(iOS) && DEBUG", false), ("!(os(iOS) || os(tvOS))", true), ("DEBUG", nil),
            ("canImport(UIKit)", false), ("canImport(CoreBluetooth)", true), ("canImport(Theirs)", nil),
            ("targetEnvironment(simulator)", false), ("swift(>=5.9)", nil), ("canImport(Combine)", false),
            ("true", true),
            ("os(iOS", false), ("((((((((((((((((((((os(iOS)", nil), ("", nil), ("&&", nil),
        ] as [(String, Bool?)]
    )
    func thePlatformDecidesWhatItCan(condition: String, value: Bool?) {
        #expect(Condition.value(of: Tokenizer.tokens(of: condition), modules: Modules()) == value)
    }

    @Test func aStandInThatWasAskedForCanBeImported() {
        let tokens = Tokenizer.tokens(of: "canImport(Combine)")
        #expect(Condition.value(of: tokens, modules: Modules(standIns: ["combine"])) == true)
    }

    @Test("a branch for other systems is reported, by line and condition")
    func aBranchForOtherSystems() {
        let source = """
            #if os(iOS) || os(tvOS)
            func vibrate() {
            }
            #endif
            """
        #expect(
            findings(in: source) == [
                """
                App.swift:1: warning: 2 lines behind #if os(iOS) || os(tvOS) with vibrate, not compiled on Linux; \
                add os(Linux) if the code works there, or use --ios App.swift
                """
            ]
        )
    }

    @Test("a branch that vanished is told by what it declares")
    func vanishedBranchesAreIdentified() {
        let source = """
            #if os(iOS)
            let key = 1
            func restore() {}
            #if DEBUG
            class A { var a: B; func restore() {} }
            #else
            struct C {}
            #endif
            #elseif os(macOS)
            f()
            #endif
            """
        #expect(
            findings(in: source).map { $0.components(separatedBy: ", not compiled")[0] } == [
                "App.swift:1: warning: 7 lines behind #if os(iOS) with key, restore, A, a and 1 more",
                "App.swift:9: warning: 1 line behind #if os(macOS)",
            ]
        )
    }

    @Test(
        "a branch that names Linux, a branch of imports alone, and compiled code are not reported",
        arguments: [
            "#if os(iOS)\nimport UIKit\n@testable import Foundation\n#endif",
            "#if os(Linux)\nlet x = 1\n#else\nlet x = 2\n#endif",
            "#if DEBUG\nlet x = 1\n#else\nlet x = 2\n#endif",
            "#if os(iOS)\n#endif",
            "#if os(iOS)\nlet x = 1\n#elseif os(Linux)\nlet x = 2\n#endif",
        ]
    )
    func conditionsWithoutFindings(source: String) {
        #expect(findings(in: source) == [])
    }

    @Test("nothing else is reported in an excluded branch, and everything after it is")
    func inABranchThatIsLeftOut() {
        let source =
            "#if os(iOS)\n#if DEBUG\n@objc var a: Int\n#else\n@objc var b: Int\n#endif\n#else\n@objc var c: Int\n#endif"
        let found = findings(in: source)
        #expect(found.count == 2)
        #expect(found[0].hasPrefix("App.swift:1: warning: 5 lines behind #if os(iOS)"))
        #expect(found[1].hasPrefix("App.swift:8: error: @objc"))
    }

    @Test func anElseAfterWhatIsThereIsLeftOut() {
        let found = findings(in: "#if canImport(CoreBluetooth)\nlet x = 1\n#else\nlet x = 2\n#endif")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("App.swift:3: warning: 1 line behind #else") == true)
    }
}
