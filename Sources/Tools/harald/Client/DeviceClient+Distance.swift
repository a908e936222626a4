import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// MARK: - harald distance

extension DeviceClient {
    private static let rangingService = CBUUID(string: "185B")
    private static let rangingFeatures = CBUUID(string: "2C14")

    /// Prints the distances to a device. Pairs first if it has to.
    ///
    /// - Parameters:
    ///   - limit: The number of distances after which it ends, or nil.
    ///   - seconds: The time after which it ends, or nil.
    func measureDistance(to device: FoundDevice, count limit: Int?, seconds: Double?) async throws(ToolError) {
        // Without Channel Sounding the session says why, and pairing would be in vain.
        if CBCentralManager.supports(.channelSounding) { try await pairToMeasure(device) }
        try await attempt("measuring the distance", device) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.printDistances(to: device, limit) }
                if let seconds { group.addTask { await self.pause(.seconds(seconds)) } }
                try await group.next()
                group.cancelAll()
            }
            try Task.checkCancellation()
        }
    }

    private func printDistances(to device: FoundDevice, _ limit: Int?) async throws {
        var left = limit
        for try await result in device.peripheral.distances() {
            let document = DistanceDocument(result, device.candidate.document)
            report.show(document, as: document.line)
            guard document.metres != nil else { continue }
            left = left.map { $0 - 1 }
            if left == 0 { return }
        }
        try Task.checkCancellation()
        // The stream ends without an error if the device was left.
        throw CBError(.notConnected)
    }

    /// Pairs by reading the ranging features, which are for paired devices (behaviour 6.1).
    private func pairToMeasure(_ device: FoundDevice) async throws(ToolError) {
        let features = try await attempt("discovering its Ranging Service", device) {
            let peripheral = device.peripheral
            let found = try await peripheral.discover(services: [Self.rangingService], deadline: Self.answerLimit)
            guard let service = found.first else { return CBCharacteristic?.none }
            let features = [Self.rangingFeatures]
            return try await peripheral.discover(characteristics: features, for: service, deadline: Self.answerLimit)
                .first
        }
        guard let features else {
            let name = device.name.quotedName
            throw .incomplete("\(name) has no Ranging Service (185B), so its distance cannot be measured")
        }
        _ = try await attempt("reading its ranging features", device) {
            try await device.peripheral.read(features, deadline: Self.pairingLimit)
        }
        guard try await link(of: device).isBonded else {
            throw .notSecured(device.name, reason: "distances are measured to paired devices only, and it did not pair")
        }
    }
}

/// A measurement of the distance to a device.
struct DistanceDocument: ReportDocument {
    static let event = "distance"

    let device: DeviceDocument
    /// The distance in metres, to the millimetre; nil if it could not be measured.
    let metres: Double?
    /// The reason why it could not be measured.
    let error: String?

    init(_ result: Result<Double, any Error>, _ device: DeviceDocument) {
        self.device = device
        switch result {
        case .success(let distance): (metres, error) = ((distance * 1_000).rounded() / 1_000, nil)
        case .failure(let failure):
            let reason = (failure as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            (metres, error) = (nil, reason ?? failure.localizedDescription)
        }
    }

    var line: String { metres.map { String(format: "%.2f m", $0) } ?? "no distance: \(error ?? "")" }
}
