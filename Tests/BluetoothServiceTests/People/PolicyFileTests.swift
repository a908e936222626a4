import BluetoothTypes
import SMP
import Security
import ServiceMessages
import Testing

@testable import Administration

/// Decisions where no user can be asked.
@Suite struct PolicyFileTests {
    private static let address = BluetoothAddress(0xC0_11_22_33_44_55, kind: .randomDevice)

    private func policy(_ text: String) throws(PolicyError) -> PolicyFile { try PolicyFile(parsing: Array(text.utf8)) }

    private func decide(
        _ text: String,
        name: String? = nil,
        address: BluetoothAddress = address,
        apps: [String] = [],
        owner: UInt32 = 0
    ) throws -> PolicyFile.PairRuling {
        try policy(text).decide(name: name, address: address, apps: apps.map { AppIdentity(name: $0, owner: owner) })
    }

    @Test("AB-A14: without a matching rule the answer is no")
    func noMatchingRuleRefuses() throws {
        for text in ["", "\n\n", "# pair yes", "app name=* yes", "pair peer=Belt yes", "prompters 1"] {
            #expect(try decide(text) == .no && decide(text, name: "belt") == .no, "\(text)")
        }
        #expect(PolicyFile().decide(name: "a", address: Self.address, apps: []) == .no)
        #expect(!PolicyFile().pairs)
    }

    @Test("the first matching rule applies")
    func theFirstRuleCounts() throws {
        let text = "pair peer=Bad* no\npair peer=B* code 000042\r\npair app=com.example.* yes # and no others\npair no"
        #expect(try decide(text, name: "Bad one", apps: ["com.example.a"]) == .no)
        #expect(try decide(text, name: "Belt") == .code(42))
        #expect(try decide(text, name: "Strap", apps: ["other", "com.example.a"]) == .yes)
        #expect(try decide(text, name: "Strap", apps: ["com.example"]) == .no)
        #expect(try decide(text, name: "Strap") == .no && policy(text).pairs)
    }

    @Test("AB-G07: a rule for a user's app does not match another user's app of that name")
    func rulesAreAboutUsers() throws {
        let text = "pair app=com.example.a user=1000 peer=B* yes\npair user=1001 code 000007"
        #expect(try decide(text, name: "Belt", apps: ["com.example.a"], owner: 1_000) == .yes)
        #expect(try decide(text, name: "Belt", apps: ["com.example.a"], owner: 1_002) == .no)
        #expect(try decide(text, name: "Belt", apps: ["com.example.b"], owner: 1_000) == .no)
        #expect(try decide(text, apps: ["any"], owner: 1_001) == .code(7) && decide(text) == .no)
        #expect(throws: PolicyError(line: 1, problem: .noUser("*"))) { try policy("pair user=* yes") }
    }

    @Test("a rule for an address does not match a device with that name")
    func addressesAreNoNames() throws {
        let text = "pair peer=C0:11:22:33:44:55 yes"
        let other = BluetoothAddress(0xC0_11_22_33_44_56, kind: .randomDevice)
        #expect(try decide(text) == .yes)
        #expect(try decide(text, name: "C0:11:22:33:44:55", address: other) == .no)
        #expect(try decide("pair peer=c0:11:22:33:44:55 yes") == .yes)
        // A rule for names does not match addresses.
        #expect(try decide("pair peer=C0:11:* yes") == .no)
    }

    @Test(
        "names match as a whole, and a star matches anything",
        arguments: [
            ("Heart*", "Heart", true), ("Heart*", "Heart 7", true), ("Heart*", "heart", false), ("*", "", true),
            ("H*t*7", "Heart 7", true), ("H*t*7", "Heart 77 ", false), ("*art", "Heart art", true),
            ("a**b", "ab", true),
            ("a", "ab", false), ("ab", "a", false), ("\\*", "*", true), ("\\*", "a", false), ("\"a b\"", "a b", true),
            ("\"a \\\" b\"", "a \" b", true), ("\"\"", "", true), ("\"\"", "a", false), ("a=b", "a=b", true),
            ("\"#1\"", "#1", true), ("a#1", "a#1", true),
        ]
    )
    func namesFit(pattern: String, name: String, fits: Bool) throws {
        #expect(try decide("pair peer=\(pattern) yes", name: name) == (fits ? .yes : .no))
    }

    @Test("AB-G05: matching a name costs no more than the product of both lengths")
    func almostFitting() throws {
        let stars = String(repeating: "a*", count: 2_000)
        let name = String(repeating: "a", count: 4_000)
        #expect(try decide("pair peer=\(stars)b yes", name: name) == .no)
    }

    @Test("behaviour 1.18: apps are allowed, refused, or asked about, by name and user")
    func permissions() throws {
        let policy = try policy("app name=com.example.* user=1000 yes\napp name=com.example.* no\napp name=test ask")
        func permission(_ name: String, _ owner: UInt32 = 0) -> AppPermission? {
            policy.permission(of: AppIdentity(name: name, owner: owner))
        }
        #expect(permission("com.example.a", 1000) == .allowedAlways)
        #expect(permission("com.example.a") == .restricted)
        #expect(permission("test") == .notDetermined)
        #expect(permission("other") == nil)
    }

    @Test("the service's user, the administrator and the users in the policy may answer questions")
    func rights() throws {
        let policy = try policy("prompters 1000 1001\nprompters 1002")
        #expect([1000, 1001, 1002].allSatisfy { policy.rights(of: $0, owner: 5) == [.inspect, .answer] })
        #expect(policy.rights(of: 5, owner: 5) == .control)
        #expect(policy.rights(of: 0, owner: 5) == .control)
        #expect(policy.rights(of: 1003, owner: 5) == .inspect)
    }

    @Test(
        "AB-A14: a policy's yes answers confirmations and comparisons, its code answers passkey entry, and other prompts are refused",
        arguments: [
            (PairingPrompt.confirmPairing, PairingAnswer.accept, PairingAnswer.refuse),
            (.compare(7), .accept, .refuse), (.enterPasskey, .refuse, .passkey(7)), (.showPasskey(7), .refuse, .refuse),
            (.confirmReplacement, .refuse, .refuse), (.enterPasskeyOnBoth, .refuse, .refuse),
        ]
    )
    func answers(prompt: PairingPrompt, yes: PairingAnswer, code: PairingAnswer) throws {
        let peer = PromptedPeer(link: 1, address: Self.address, cause: .known)
        #expect(try policy("pair yes").answer(to: prompt, of: peer, for: []) == yes)
        #expect(try policy("pair code 000007").answer(to: prompt, of: peer, for: []) == code)
        #expect(try policy("pair no").answer(to: prompt, of: peer, for: []) == .refuse)
    }

    @Test("AB-S18: a policy's code is never an answer to a stranger", arguments: PairingCause.allCases)
    func codesAreNotForStrangers(cause: PairingCause) throws {
        let peer = PromptedPeer(link: 1, address: Self.address, cause: cause)
        let answer = try policy("pair code 000007").answer(to: .enterPasskey, of: peer, for: [])
        #expect(answer == (cause == .stranger ? .refuse : .passkey(7)))
    }

    @Test(
        "an error in a policy is reported with its line",
        arguments: [
            ("allow peer=a yes", PolicyError.Problem.unknownRule("allow")),
            ("pair name=a yes", .unknownField("name=", of: "pair")),
            ("app peer=a yes", .unknownField("peer=", of: "app")),
            ("pair peer=a peer=b yes", .repeatedField("peer")), ("app yes", .missingField("name")),
            ("pair peer=a", .missingRuling(of: "pair")), ("app name=a", .missingRuling(of: "app")),
            ("pair maybe", .unknownRuling("maybe", of: "pair")), ("app name=a code", .unknownRuling("code", of: "app")),
            ("pair ask", .unknownRuling("ask", of: "pair")), ("pair code", .noCode("")),
            ("pair code 12345", .noCode("12345")),
            ("pair code 1234567", .noCode("1234567")), ("pair code +12345", .noCode("+12345")),
            ("app name=a user=x yes", .noUser("x")), ("app name=a user=* yes", .noUser("*")),
            ("prompters -1", .noUser("-1")), ("prompters 4294967296", .noUser("4294967296")),
            ("pair yes no", .trailing("no")), ("app name=a no user=1", .trailing("user=1")),
            ("pair peer=\"a yes", .openQuotation), ("pair peer=a\\", .danglingEscape),
        ]
    )
    func errorsNameTheLine(line: String, problem: PolicyError.Problem) {
        #expect(throws: PolicyError(line: 3, problem: problem)) { try policy("# all\npair no\n\(line)\npair yes\n") }
        let text = PolicyError(line: 3, problem: problem).description
        #expect(text.hasPrefix("line 3 "))
        #expect(text.count > 20)
    }

    @Test("AB-G05: the size, lines and prompters of a policy are bounded")
    func aPolicyIsBounded() throws {
        let long = [UInt8](repeating: 0x23, count: PolicyFile.maximumOctets + 1)
        #expect(throws: PolicyError(line: 0, problem: .tooLong(octets: long.count))) { try PolicyFile(parsing: long) }
        #expect(throws: Never.self) { try PolicyFile(parsing: Array(long.dropLast())) }
        let lines = String(repeating: "\n", count: PolicyFile.maximumLines)
        #expect(throws: PolicyError(line: 0, problem: .tooManyLines)) { try policy(lines) }
        #expect(throws: Never.self) { try policy(String(lines.dropLast())) }
        #expect(throws: PolicyError(line: 0, problem: .notText)) { try PolicyFile(parsing: [0xFF]) }
        let users = (0...PolicyFile.maximumPrompters).map { "\($0)" }.joined(separator: " ")
        #expect(throws: PolicyError(line: 1, problem: .tooManyPrompters)) { try policy("prompters \(users)") }
    }
}
