import Testing

@Suite("Methods that compile and are never called")
struct UncalledMethodTests {
    private let added = "    func centralManager(_ c: CBCentralManager, didConnect p: CBPeripheral) {}\n"

    @Test("a subclass that adds an optional method to a base without it is reported")
    func aSubclassThatAddsAnOptionalMethod() {
        let source = "class Base: NSObject, CBCentralManagerDelegate {}\nclass App: Base {\n\(added)}"
        #expect(
            findings(in: source) == [
                """
                App.swift:3: warning: centralManager(_:didConnect:) is never called: Base conforms to CBCentralManagerDelegate \
                without declaring it; declare it there and override it here
                """
            ]
        )
    }

    @Test(
        "the same holds with extensions, other protocols or further classes in between",
        arguments: [
            "class Base: NSObject {}\nextension Base: CBCentralManagerDelegate {}\nclass App: Base {\n",
            "protocol Mine: CBCentralManagerDelegate {}\nclass Base<T>: NSObject, Mine where T: A {}\nclass App: Base<Int> {\n",
            "class Base: NSObject, CBCentralManagerDelegate {}\nclass Middle: Base {}\nclass App: Middle {\n",
            "class Base: NSObject, CBCentralManagerDelegate {}\nclass App: Base {}\nextension App {\n",
            "class Base: NSObject,\n    @preconcurrency CBCentralManagerDelegate {}\nclass App: Base {\n  func b() { if x { } }\n",
        ]
    )
    func uncalledMethodsAreFoundBehindOtherCode(head: String) {
        let found = findings(in: head + added + "}")
        #expect(found.count == 1)
        #expect(found.first?.contains("warning: centralManager(_:didConnect:) is never called: Base") == true)
    }

    @Test(
        "a method that is called is not reported",
        arguments: [
            "class Base: NSObject {}\nclass App: Base, CBCentralManagerDelegate {\n",
            "class App: NSObject, CBCentralManagerDelegate {\n",
            "class Base: NSObject {}\nclass App: Base {\n",
            "class Base: NSObject, CBCentralManagerDelegate {}\nclass Other: Base {}\nclass App: NSObject {\n",
            "class Base: NSObject, CBCentralManagerDelegate {}\nclass App: Base { static\n",
            "class Base: Theirs, CBCentralManagerDelegate {}\nclass App: Base { override\n",
        ]
    )
    func calledMethodsAreNotFound(head: String) {
        #expect(findings(in: head + added + "}") == [])
    }

    @Test func anOverrideOfWhatTheBaseHasIsCalled() {
        let source = """
            class Base: NSObject, CBCentralManagerDelegate {
            \(added)}
            class App: Base {
                override func centralManager(_ c: CBCentralManager, didConnect p: CBPeripheral) {}
            }
            """
        #expect(findings(in: source) == [])
    }

    @Test("a method whose types differ from the requirement's is reported, and one that spells them differently is not")
    func aMethodOfOtherTypes() {
        func source(_ error: String) -> String {
            """
            class App: NSObject, CBCentralManagerDelegate {
                func centralManager(_ c: CBCentralManager, didFailToConnect p: CBPeripheral, error: \(error)) {}
            }
            """
        }
        #expect(
            findings(in: source("NSError?")) == [
                """
                App.swift:2: warning: centralManager(_:didFailToConnect:error:) is never called: its types differ from those of the \
                delegate's method
                """
            ]
        )
        for error in ["Error?", "(any Error)?", "Swift.Error?", "Optional<Error>"] {
            #expect(findings(in: source(error)) == [])
        }
    }
}
