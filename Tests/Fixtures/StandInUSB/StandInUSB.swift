import Foundation
import HCITransports
import Synchronization

/// Scripted USB devices for tests. Calls that libusb forbids are recorded as violations.
package final class StandInUSB: USBCalls {
    /// The scripted state and the recorded calls.
    package struct State: Sendable {
        package var devices: [USBDevice] = []
        package var listError: USBCallError?
        package var openErrors: [USBCallError] = []
        package var claimErrors: [USBCallError] = []
        package var selectErrors: [USBCallError] = []
        package var resetErrors: [USBCallError] = []
        /// Interfaces bound to the kernel's driver.
        package var driven: Set<UInt8> = []
        /// How often to poll before the driver is bound.
        package var looksUntilDriven = 0
        /// The calls made, except queries and transfers.
        package var asked: [String] = []
        /// Calls that libusb would not survive.
        package var violations: [String] = []
        package var connections: [StandInConnection] = []
    }

    package let state: Mutex<State>

    package init(_ devices: [USBDevice] = [], driven: Set<UInt8> = []) {
        state = Mutex(State(devices: devices, driven: driven))
    }

    package func devices() throws(USBCallError) -> [USBDevice] {
        if let error = state.withLock({ $0.listError }) { throw error }
        return state.withLock { $0.devices }
    }

    package func open(_ device: USBDevice) throws(USBCallError) -> any USBConnection {
        let error = state.withLock { state in
            state.asked.append("open \(device.place)")
            return state.openErrors.isEmpty ? nil : state.openErrors.removeFirst()
        }
        if let error { throw error }
        let connection = StandInConnection(self)
        state.withLock { $0.connections.append(connection) }
        return connection
    }

    /// The calls made since the last call of this method.
    package func takeAsked() -> [String] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }

    /// A controller with the endpoints required by the specification.
    package static func controller(
        vendor: UInt16 = 0x1209,
        product: UInt16 = 0x0B1E,
        bus: UInt8 = 1,
        ports: [UInt8] = [2],
        isSerialized: Bool = false,
        interfaceClass: USBDevice.Class = .bluetooth
    ) -> USBDevice {
        func endpoint(_ alternate: UInt8, _ address: UInt8, _ kind: USBDevice.Endpoint.Kind, _ size: Int)
            -> USBDevice.Endpoint
        {
            .init(
                interface: 0,
                alternate: alternate,
                interfaceClass: interfaceClass,
                address: address,
                kind: kind,
                size: size
            )
        }
        var endpoints = [endpoint(0, 0x81, .interrupt, 16), endpoint(0, 0x82, .bulk, 64), endpoint(0, 0x02, .bulk, 64)]
        if isSerialized { endpoints += [endpoint(1, 0x82, .bulk, 64), endpoint(1, 0x02, .bulk, 64)] }
        endpoints.append(
            .init(
                interface: 1,
                alternate: 1,
                interfaceClass: interfaceClass,
                address: 0x83,
                kind: .isochronous,
                size: 9
            )
        )
        return USBDevice(
            vendor: vendor,
            product: product,
            bus: bus,
            address: 7,
            ports: ports,
            deviceClass: interfaceClass,
            endpoints: endpoints
        )
    }
}

/// An open device. Transfers are pending until a test completes them.
package final class StandInConnection: USBConnection {
    private struct Waiting: Sendable {
        let transfer: USBTransfer
        let completion: @Sendable (USBOutcome) -> Void
    }

    private struct State: Sendable {
        var waiting: [Waiting] = []
        /// Completions to deliver at the next poll.
        var due: [(USBOutcome, @Sendable (USBOutcome) -> Void)] = []
        var written: [USBTransfer] = []
        var submitError: USBCallError?
        var isClosed = false
        var most: [UInt8: Int] = [:]
    }

    private let usb: StandInUSB
    private let state = Mutex(State())
    private let happened = DispatchSemaphore(value: 0)

    init(_ usb: StandInUSB) { self.usb = usb }

    // MARK: Device behaviour

    /// Completes the first pending read of an endpoint; returns false if there is none.
    @discardableResult
    package func complete(_ endpoint: UInt8, _ outcome: USBOutcome) -> Bool {
        let isFound = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.transfer.endpoint == endpoint }) else {
                return false
            }
            state.due.append((outcome, state.waiting.remove(at: index).completion))
            return true
        }
        if isFound { happened.signal() }
        return isFound
    }

    /// Fails all pending and future transfers.
    package func unplug() {
        state.withLock { state in
            state.submitError = .noDevice
            state.due += state.waiting.map { (.gone, $0.completion) }
            state.waiting = []
        }
        happened.signal()
    }

    /// The number of pending transfers of an endpoint.
    package func underWay(_ endpoint: UInt8) -> Int {
        state.withLock { $0.waiting.filter { $0.transfer.endpoint == endpoint }.count }
    }

    /// The maximum number of pending transfers so far.
    package func most(_ endpoint: UInt8) -> Int { state.withLock { $0.most[endpoint] ?? 0 } }

    /// The writes submitted so far.
    package var written: [USBTransfer] { state.withLock { $0.written } }

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: USBConnection

    private func note(_ what: String) {
        let isClosed = isClosed
        usb.state.withLock { state in
            state.asked.append(what)
            if isClosed { state.violations.append("\(what) after close") }
        }
    }

    package func isDriverActive(_ interface: UInt8) throws(USBCallError) -> Bool {
        usb.state.withLock { state in
            state.looksUntilDriven -= 1
            return state.driven.contains(interface) && state.looksUntilDriven < 0
        }
    }

    package func detachDriver(_ interface: UInt8) throws(USBCallError) {
        note("detach \(interface)")
        _ = usb.state.withLock { $0.driven.remove(interface) }
    }

    package func attachDriver(_ interface: UInt8) throws(USBCallError) {
        note("attach \(interface)")
        _ = usb.state.withLock { $0.driven.insert(interface) }
    }

    package func claim(_ interface: UInt8) throws(USBCallError) {
        note("claim \(interface)")
        if let error = usb.state.withLock({ $0.claimErrors.isEmpty ? nil : $0.claimErrors.removeFirst() }) {
            throw error
        }
    }

    package func release(_ interface: UInt8) throws(USBCallError) { note("release \(interface)") }

    package func select(_ alternate: UInt8, of interface: UInt8) throws(USBCallError) {
        note("select \(alternate) of \(interface)")
        if let error = usb.state.withLock({ $0.selectErrors.isEmpty ? nil : $0.selectErrors.removeFirst() }) {
            throw error
        }
    }

    package func clearHalt(_ endpoint: UInt8) throws(USBCallError) { note("clear \(endpoint)") }

    package func reset() throws(USBCallError) {
        note("reset")
        if let error = usb.state.withLock({ $0.resetErrors.isEmpty ? nil : $0.resetErrors.removeFirst() }) {
            throw error
        }
    }

    package func submit(
        _ transfer: USBTransfer,
        completion: @escaping @Sendable (USBOutcome) -> Void
    ) throws(USBCallError) {
        let error = state.withLock { state in
            if let error = state.submitError { return error as USBCallError? }
            if case .write = transfer.content { state.written.append(transfer) }
            state.waiting.append(Waiting(transfer: transfer, completion: completion))
            let count = state.waiting.filter { $0.transfer.endpoint == transfer.endpoint }.count
            state.most[transfer.endpoint] = max(state.most[transfer.endpoint] ?? 0, count)
            return nil
        }
        if let error { throw error }
    }

    package func cancelAll() {
        note("cancel")
        state.withLock { state in
            state.due += state.waiting.map { (.cancelled, $0.completion) }
            state.waiting = []
        }
        happened.signal()
    }

    package func handleEvents() {
        happened.wait()
        let due = state.withLock { state in
            defer { state.due = [] }
            return state.due
        }
        for (outcome, completion) in due { completion(outcome) }
    }

    package func interrupt() {
        if isClosed { usb.state.withLock { $0.violations.append("interrupt after close") } }
        happened.signal()
    }

    package func close() {
        let left = state.withLock { state in
            state.isClosed = true
            return state.waiting.count + state.due.count
        }
        usb.state.withLock { state in
            state.asked.append("close")
            if left > 0 { state.violations.append("closed with \(left) transfers under way") }
        }
    }
}
