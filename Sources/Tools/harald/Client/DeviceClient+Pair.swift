import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// MARK: - Pairing

extension DeviceClient {
    /// Encrypts the link, by the bond or by pairing.
    ///
    /// As in Core Bluetooth, devices pair when a value is used that is for paired devices only (behaviour 6.1). This
    /// reads and follows values until one of them is.
    func pair(_ device: FoundDevice) async throws(ToolError) {
        if try await showPairing(device, isNew: false) { return }
        let table = try await discover(device)
        report.say("pairing with \(device.name.quotedName)")
        for listed in table.listing.services.flatMap(\.characteristics) {
            guard let characteristic = table.characteristics[listed.handle] else { continue }
            try await touch(characteristic, device)
            if try await showPairing(device) { return }
        }
        throw .notSecured(
            device.name,
            reason: "none of its values that can be read or followed requires pairing, so that it does not pair"
        )
    }

    private func touch(_ characteristic: CBCharacteristic, _ device: FoundDevice) async throws(ToolError) {
        let name = nameOf(characteristic.uuid.uuid)
        try await attempt("using \(name)", device) {
            do {
                if characteristic.properties.contains(.read) {
                    _ = try await device.peripheral.read(characteristic, deadline: Self.pairingLimit)
                } else if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
                    try await subscribe(to: characteristic, device)
                }
            } catch let error as CBATTError where !error.code.isOfSecurity {
                // The peer rejects it for a reason of its own.
            }
        }
    }

    /// Subscribes, and unsubscribes once the peer has agreed or sent a value.
    private func subscribe(to characteristic: CBCharacteristic, _ device: FoundDevice) async throws {
        let values = device.peripheral.notifications(of: characteristic)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await _ in values { return } }
            group.addTask {
                while !characteristic.isNotifying, !Task.isCancelled { await self.pause(Self.subscriptionCheck) }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Returns whether the link is encrypted, and prints it.
    private func showPairing(_ device: FoundDevice, isNew: Bool = true) async throws(ToolError) -> Bool {
        let link = try await link(of: device)
        guard link.isEncrypted else { return false }
        let trust = link.isAuthenticated ? "authenticated" : "unauthenticated"
        report.show(
            PairingDocument(link, device.candidate.document),
            as: (isNew ? "" : "already ")
                + "\(link.isBonded ? "paired" : "encrypted, without keeping a bond"): \(trust), "
                + "with a \(link.keySize)-octet key"
        )
        return true
    }

    /// How long a person may take to answer (Core Vol 3 Part H 3.4), and the devices after that.
    static let pairingLimit = Duration.seconds(60)
    private static let subscriptionCheck = Duration.milliseconds(50)
}

/// A link that is encrypted, by pairing or by the bond.
struct PairingDocument: ReportDocument {
    static let event = "paired"

    let device: DeviceDocument
    let isAuthenticated: Bool
    let isBonded: Bool
    let keySize: Int

    init(_ link: LinkInformation, _ device: DeviceDocument) {
        self.device = device
        isAuthenticated = link.isAuthenticated
        isBonded = link.isBonded
        keySize = link.keySize
    }
}
