import Foundation
import Testing

@testable import harald

@Suite struct DelegateInterfaceTests {
    /// The optional methods of each protocol, without the places of their declarations.
    private func methods(in files: [SourceFile]) -> [String: Set<String>] {
        let declarations = files.map { Declarations(CompiledSource($0, modules: Modules())) }
        return OptionalMethods(declarations).byProtocol.mapValues { methods in
            Set(methods.map { "\($0.signature) \($0.types)" })
        }
    }

    @Test("the delegate methods that are compiled into the tool are those of CoreBluetooth")
    func theInterfaceIsThatOfTheModule() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/App/CoreBluetooth").standardizedFileURL.path
        let names = try #require(FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String })
        let files = try names.filter { $0.hasSuffix("Delegate.swift") }.sorted().map { name in
            SourceFile(name: name, text: try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
        }
        let module = methods(in: files)
        #expect(module.count == 3)
        #expect(methods(in: [DelegateInterface.file]) == module)
    }

    @Test func aPackageIsCheckedAgainstTheInterface() {
        let text = """
            class Base: NSObject, CBPeripheralDelegate {}
            class Derived: Base {
                func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {}
            }
            """
        let check = SourceCheck([SourceFile(name: "App.swift", text: text)], modules: Modules())
        #expect(check.findings.map(\.line) == [3])
        #expect(check.findings.map(\.kind) == [.warning])
    }
}
