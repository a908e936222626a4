import BluetoothService
import Foundation
import Synchronization

/// For other modules of this package.
extension CBCentralManager {
    /// Begins a scan in place of the one that there may be, and gives it a number; nil when the manager takes no commands.
    package func beginScan(_ request: ScanRequest) -> UInt64? {
        guard state == .poweredOn, let link else { return nil }
        let (old, number): (UInt64?, UInt64) = contents.withLock { contents in
            defer { contents.isScanning = true }
            contents.scanNumber += 1
            return (contents.isScanning ? contents.scanNumber - 1 : nil, contents.scanNumber)
        }
        if let old { happenings.tell(.scanEnded(old, .replaced)) }
        link.send(CentralRequest.startScan(request))
        return number
    }

    /// The number of the scan that is going on.
    package var presentScan: UInt64? { contents.withLock { $0.isScanning ? $0.scanNumber : nil } }

    /// Ends the scan with this number, if it is still going on.
    package func endScan(_ number: UInt64) {
        let isGoingOn = contents.withLock { contents in
            guard contents.isScanning, contents.scanNumber == number else { return false }
            contents.isScanning = false
            return true
        }
        if isGoingOn { link?.send(CentralRequest.stopScan) }
    }

    /// The scan is over.
    func scanEnded(_ end: ScanEnd) {
        let number: UInt64? = contents.withLock { contents in
            defer { contents.isScanning = false }
            return contents.isScanning ? contents.scanNumber : nil
        }
        if let number { happenings.tell(.scanEnded(number, end)) }
    }

    /// Whether a peripheral came from this manager and still stands for a device (behaviours 1.10, 3.8).
    package func knows(_ peripheral: CBPeripheral) -> Bool { registry.contains(peripheral) }

    /// What the service says to a question; nil when it cannot be asked.
    package func reply(to query: Query) -> Reply? { try? link?.ask(query).get() }

    /// The scan forgets which devices it has told of.
    package func resetScanFilter() {
        if state == .poweredOn { link?.send(CentralRequest.resetScanFilter) }
    }

    /// Calls `body` on the manager's queue after a time by the clock of the service, unless what it returns is called.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let link else { return {} }
        return link.callBack(after: delay, body)
    }
}

extension CBPeripheral {
    /// The manager has let the connection go without telling the delegate: whoever waits here hears of it.
    func lost(_ error: any Error, with state: CBManagerState?) {
        settleAll(error)
        happenings.tell(.disconnected(ConnectionEnd(error: error, time: CFAbsoluteTimeGetCurrent(), state: state)))
    }
}
