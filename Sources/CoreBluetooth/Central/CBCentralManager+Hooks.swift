import Foundation
import ServiceMessages
import Synchronization

/// Entry points for other modules of this package.
extension CBCentralManager {
    /// Starts a scan in place of the current one, if any.
    ///
    /// - Returns: The number of the scan, or nil if the manager is not powered on.
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

    /// The number of the current scan, or nil if there is none.
    package var presentScan: UInt64? { contents.withLock { $0.isScanning ? $0.scanNumber : nil } }

    /// Stops the scan with this number, if it is still the current one.
    package func endScan(_ number: UInt64) {
        let isGoingOn = contents.withLock { contents in
            guard contents.isScanning, contents.scanNumber == number else { return false }
            contents.isScanning = false
            return true
        }
        if isGoingOn { link?.send(CentralRequest.stopScan) }
    }

    /// Marks the current scan as ended and reports why to the listeners.
    func scanEnded(_ end: ScanEnd) {
        let number: UInt64? = contents.withLock { contents in
            defer { contents.isScanning = false }
            return contents.isScanning ? contents.scanNumber : nil
        }
        if let number { happenings.tell(.scanEnded(number, end)) }
    }

    /// Whether the peripheral is one of this manager's and still valid (behaviours 1.10, 3.8).
    package func knows(_ peripheral: CBPeripheral) -> Bool { registry.contains(peripheral) }

    /// Returns the service's reply to a query, or nil if there is none.
    package func reply(to query: Query) -> Reply? { try? link?.ask(query).get() }

    /// Makes the scan forget which devices it has reported, so that it reports them again.
    package func resetScanFilter() {
        if state == .poweredOn { link?.send(CentralRequest.resetScanFilter) }
    }

    /// Calls `body` on the manager's queue after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let link else { return {} }
        return link.callBack(after: delay, body)
    }
}

extension CBPeripheral {
    /// Completes all requests with an error and tells the listeners, after the manager has dropped the connection
    /// without calling the delegate.
    func lost(_ error: any Error, with state: CBManagerState?) {
        settleAll(error)
        happenings.tell(.disconnected(ConnectionEnd(error: error, time: CFAbsoluteTimeGetCurrent(), state: state)))
    }
}
