@testable import harald

/// The findings in a file named `App.swift`, with a delegate of the app's own.
func findings(in text: String, standIns: Set<String> = []) -> [String] {
    SourceCheck(
        [SourceFile(name: "App.swift", text: text)],
        interface: [SourceFile(name: "Delegate.swift", text: delegate)],
        modules: Modules(standIns: standIns)
    )
    .findings.map(\.description)
}

private let delegate = """
    public protocol CBCentralManagerDelegate: NSObjectProtocol {
        func centralManagerDidUpdateState(_ central: CBCentralManager)
        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
        func centralManager(
            _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)
    }
    extension CBCentralManagerDelegate {
        public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
        public func centralManager(
            _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {}
    }
    """
