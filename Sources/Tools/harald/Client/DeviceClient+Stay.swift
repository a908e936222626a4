import CoreBluetooth
import CoreBluetoothExtras
import Demos

// MARK: - harald connect

extension DeviceClient {
    /// Stays connected to a device for `seconds`, or until the user interrupts it, and prints changes of the link.
    func stay(_ device: FoundDevice, seconds: Double?) async throws(ToolError) {
        let result = await withTaskGroup(of: Result<Void, ToolError>.self) { group in
            group.addTask { await self.reportLink(of: device) }
            group.addTask { await self.connectAgain(device) }
            if let seconds {
                group.addTask {
                    await self.pause(.seconds(seconds))
                    return .success(())
                }
            }
            let first = await group.next() ?? .success(())
            group.cancelAll()
            return first
        }
        try result.get()
    }

    private func reportLink(of device: FoundDevice) async -> Result<Void, ToolError> {
        do throws(ToolError) {
            try await attempt("watching the link", device) {
                for try await link in device.peripheral.linkChanges {
                    report.show(LinkStateDocument(link, device.candidate.document), as: link.line)
                }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func connectAgain(_ device: FoundDevice) async -> Result<Void, ToolError> {
        do throws(ToolError) {
            let ends = central.disconnections(of: device.peripheral)
            try await attempt("staying connected", device) {
                for try await end in ends {
                    let reason = end.text
                    let document = LinkDocument(
                        device: device.candidate.document,
                        state: "disconnected",
                        reason: reason
                    )
                    // Without Bluetooth, there is nothing to connect again with.
                    if case .state(let state) = end.cause {
                        report.show(document, as: "disconnected: \(reason.clause)")
                        throw ExtrasError.notPoweredOn(state)
                    }
                    report.show(document, as: "disconnected: \(reason.clause); connecting again")
                    try await central.openConnection(to: device.peripheral)
                    report.show(LinkDocument(device: device.candidate.document, state: "connected"), as: "connected")
                }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}

/// The properties of a link, after each change.
struct LinkStateDocument: ReportDocument {
    static let event = "linkState"

    let device: DeviceDocument
    let mtu: Int
    let intervalMilliseconds: Double
    let latency: Int
    let isEncrypted: Bool
    let isAuthenticated: Bool
    let isBonded: Bool

    init(_ link: LinkInformation, _ device: DeviceDocument) {
        self.device = device
        mtu = link.mtu
        intervalMilliseconds = link.intervalMilliseconds
        latency = link.latency
        isEncrypted = link.isEncrypted
        isAuthenticated = link.isAuthenticated
        isBonded = link.isBonded
    }
}

extension LinkInformation {
    fileprivate var intervalMilliseconds: Double {
        let (seconds, attoseconds) = interval.components
        return Double(seconds) * 1_000 + Double(attoseconds) / 1e15
    }

    fileprivate var line: String {
        let security =
            isEncrypted
            ? "encrypted\(isAuthenticated ? ", authenticated" : "")\(isBonded ? ", bonded" : "")" : "not encrypted"
        return "link: every \(intervalMilliseconds) ms, latency \(latency), MTU \(mtu), \(security)"
    }
}

extension Disconnection {
    fileprivate var text: String {
        switch cause {
        case .asked: "the connection was cancelled"
        case .lost(let error): error.localizedDescription.lowercasedFirst
        case .state(.resetting): "Bluetooth was reset, or its service ended"
        case .state(let state): "Bluetooth is \(stateName(state))"
        }
    }
}
