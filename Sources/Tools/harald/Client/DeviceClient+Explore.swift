import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// MARK: - harald explore

extension DeviceClient {
    /// Prints the attributes of a device with their values, and uses them as `plan` asks.
    func explore(
        _ selector: DeviceSelector,
        _ plan: Visit.Plan,
        pairs: Bool,
        seconds: Double
    ) async throws(ToolError) {
        let device = try await find(selector, seconds: seconds)
        try await connect(device, limit: .seconds(seconds))
        if pairs { try await pair(device) }
        var table = try await discover(device)
        table.listing.isRaw = plan.isRaw
        // The devices have exchanged the MTU by now.
        let link = try await link(of: device)
        report.say("MTU \(link.mtu)")
        try await show(&table, device)
        if let value = plan.write { try await write(value, to: table, device) }
        if plan.awaitsChange {
            try await awaitChange(device)
            table = try await discover(device)
            table.listing.isRaw = plan.isRaw
            try await show(&table, device)
        }
        if plan.notifications > 0 { try await follow(plan, table, device) }
    }

    private func show(_ table: inout DiscoveredTable, _ device: FoundDevice) async throws(ToolError) {
        table.listing = try await readValues(of: table, device)
        let link = try await link(of: device)
        table.listing.flaws = link.tableFlaws + table.listing.flaws
        report.show(table.listing, as: table.listing.lines)
    }

    private func write(
        _ write: ValueToWrite,
        to table: DiscoveredTable,
        _ device: FoundDevice
    ) async throws(ToolError) {
        guard let characteristic = table.characteristic(write.uuid) else {
            throw .incomplete("\(device.name.quotedName) has no characteristic \(nameOf(write.uuid))")
        }
        let target = FoundCharacteristic(device: device, characteristic: characteristic, listing: table.listing)
        try await self.write(write.value, to: target, withResponse: true)
        guard characteristic.properties.contains(.read) else { return }
        let value = try await read(target)
        report.show(
            ValueDocument(value, of: write.uuid, device.candidate.document),
            as: "read back \(nameOf(write.uuid)): \(shown(value, of: write.uuid, raw: table.listing.isRaw))"
        )
    }

    private func awaitChange(_ device: FoundDevice) async throws(ToolError) {
        report.say("waiting for the services to change")
        try await attempt("waiting for its services to change", device) {
            for try await _ in device.peripheral.serviceChanges { return }
        }
        report.say("services changed")
    }

    private func follow(
        _ plan: Visit.Plan,
        _ table: DiscoveredTable,
        _ device: FoundDevice
    ) async throws(ToolError) {
        guard let listed = try table.listing.toFollow(plan.follow, of: device.name),
            let characteristic = table.characteristics[listed.handle]
        else { return }
        let target = FoundCharacteristic(device: device, characteristic: characteristic, listing: table.listing)
        try target.checkFollowable()
        report.say("following \(target.name)")
        try await follow(target, count: plan.notifications) { value in
            "value of \(target.name): \(shown(value, of: target.uuid, raw: plan.isRaw))"
        }
    }
}

// MARK: - Values

extension DeviceClient {
    func read(_ target: FoundCharacteristic) async throws(ToolError) -> PacketBuffer {
        try await attempt("reading \(target.name)", target.device) {
            let value = try await target.device.peripheral.read(target.characteristic, deadline: Self.answerLimit)
            return PacketBuffer(copying: value)
        }
    }

    /// The longest value of an attribute, in octets (Core Vol 3 Part F 3.2.9).
    private static let longestValue = 512

    func write(
        _ value: PacketBuffer,
        to target: FoundCharacteristic,
        withResponse isConfirmed: Bool
    ) async throws(ToolError) {
        guard value.count <= Self.longestValue else {
            throw .incomplete(
                "cannot write \(value.count) octets: a value has at most \(Self.longestValue)"
            )
        }
        let (peripheral, data) = (target.device.peripheral, Data(value))
        try await attempt("writing \(target.name)", target.device) {
            if isConfirmed {
                try await peripheral.write(data, for: target.characteristic, deadline: Self.answerLimit)
            } else {
                try await peripheral.writeWithoutResponse(data, for: target.characteristic, deadline: Self.answerLimit)
                // No answer tells when the value has arrived, and leaving the device would discard it.
                let link = try await peripheral.linkInformation(deadline: Self.answerLimit)
                await pause(max(Self.lastWords, link.interval * (link.latency + 2)))
            }
        }
        let document = WriteDocument(
            device: target.device.candidate.document,
            characteristic: UUIDDocument(target.uuid),
            octets: value.count,
            isConfirmed: isConfirmed
        )
        report.show(document, as: "wrote \(count(value.count, "octet")) to \(target.name)")
    }

    /// Prints the values that a characteristic notifies or indicates: `limit` of them, or without end if it is nil.
    func follow(
        _ target: FoundCharacteristic,
        count limit: Int?,
        line: (PacketBuffer) -> String
    ) async throws(ToolError) {
        try target.checkFollowable()
        let document = target.device.candidate.document
        var left = limit
        try await attempt("following \(target.name)", target.device) {
            for try await data in target.device.peripheral.notifications(of: target.characteristic) {
                let value = PacketBuffer(copying: data)
                report.show(ValueDocument(value, of: target.uuid, document), as: line(value))
                left = left.map { $0 - 1 }
                if left == 0 { return }
            }
            try Task.checkCancellation()
            // The stream ends without an error if the device was left.
            throw CBError(.notConnected)
        }
    }
}
