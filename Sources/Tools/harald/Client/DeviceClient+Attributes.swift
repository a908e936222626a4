import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// MARK: - Characteristics

/// A characteristic of a connected device, with what is known of the others.
struct FoundCharacteristic: Sendable {
    let device: FoundDevice
    let characteristic: CBCharacteristic
    /// All characteristics of the device, without values.
    let listing: AttributeListing

    var uuid: BluetoothUUID { characteristic.uuid.uuid }
    var name: String { nameOf(uuid) }

    func checkFollowable() throws(ToolError) {
        if characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
            throw .incomplete(listing.doesNotNotify(uuid))
        }
    }

    func checkReadable() throws(ToolError) {
        guard !characteristic.properties.contains(.read) else { return }
        let notifies = !characteristic.properties.isDisjoint(with: [.notify, .indicate])
        throw .incomplete(listing.cannotBeRead(uuid, notifies: notifies))
    }

    func checkWritable(withResponse isConfirmed: Bool) throws(ToolError) {
        let properties = characteristic.properties
        if properties.contains(isConfirmed ? .write : .writeWithoutResponse) { return }
        guard !properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
            throw .incomplete(listing.cannotBeWritten(uuid))
        }
        throw .incomplete(
            isConfirmed
                ? "\(name) is written without response only: add --without-response"
                : "\(name) is written with response only: leave out --without-response"
        )
    }
}

extension DeviceClient {
    /// Discovers the characteristics of a device, and returns the one that the user has named. Of several with the same
    /// UUID, it takes a preferred one.
    func characteristic(
        _ selector: CharacteristicSelector,
        of device: FoundDevice,
        preferring isPreferred: (AttributeListing.Characteristic) -> Bool = { _ in true }
    ) async throws(ToolError) -> FoundCharacteristic {
        let table = try await discover(device)
        let chosen = try table.listing.choose(selector, of: device.name, preferring: isPreferred)
        guard let characteristic = table.characteristics[chosen.handle] else {
            throw .incomplete("\(device.name.quotedName) has changed its services")
        }
        return FoundCharacteristic(device: device, characteristic: characteristic, listing: table.listing)
    }
}

// MARK: - The table

typealias DiscoveredTable = AttributeTable<CBCharacteristic>

extension DeviceClient {
    /// Discovers all services and characteristics that apps can use. What fails is a flaw of the table, unless the link
    /// has ended.
    func discover(_ device: FoundDevice) async throws(ToolError) -> DiscoveredTable {
        let peripheral = device.peripheral
        var table = DiscoveredTable(listing: AttributeListing(device: device.candidate.document))
        var left = try await attempt("discovering its services", device) {
            try await peripheral.discover(services: nil, deadline: Self.answerLimit)
        }
        var known = Set(left.map(\.handle))
        while !left.isEmpty {
            let service = left.removeFirst()
            let name = nameOf(service.uuid.uuid)
            let included = try await usable("discovering what \(name) includes", device, &table.listing) {
                try await peripheral.discover(includedServices: nil, for: service, deadline: Self.answerLimit)
            }
            // Secondary services can only be found as included ones.
            left += included.filter { known.insert($0.handle).inserted }
            let found = try await usable("discovering the characteristics of \(name)", device, &table.listing) {
                try await peripheral.discover(characteristics: nil, for: service, deadline: Self.answerLimit)
            }
            for characteristic in found { table.characteristics[characteristic.handle] = characteristic }
            table.listing.services.append(AttributeListing.Service(service, including: included, found))
        }
        memory.add(table.listing, of: device)
        return table
    }

    /// Returns what a step of the discovery finds; nothing if the step alone fails, which becomes a flaw.
    func usable<Found: Sendable>(
        _ doing: String,
        _ device: FoundDevice,
        _ listing: inout AttributeListing,
        _ step: () async throws -> [Found]
    ) async throws(ToolError) -> [Found] {
        do throws(ToolError) {
            return try await attempt(doing, device, step)
        } catch .incomplete(let reason) {
            listing.flaws.append(reason)
            return []
        }
    }

    /// Reads all values of a table, and its descriptors. A read that the peer rejects is part of the result.
    func readValues(of table: DiscoveredTable, _ device: FoundDevice) async throws(ToolError) -> AttributeListing {
        var listing = table.listing
        for (index, service) in listing.services.enumerated() {
            for (position, listed) in service.characteristics.enumerated() {
                guard let characteristic = table.characteristics[listed.handle] else { continue }
                var listed = listed
                if characteristic.properties.contains(.read) {
                    listed.value = try await value("reading \(nameOf(listed.uuid))", device) {
                        try await device.peripheral.read(characteristic, deadline: Self.answerLimit)
                    }
                }
                listed.descriptors = try await descriptors(of: characteristic, device, &listing)
                listing.services[index].characteristics[position] = listed
            }
        }
        return listing
    }

    private func descriptors(
        of characteristic: CBCharacteristic,
        _ device: FoundDevice,
        _ listing: inout AttributeListing
    ) async throws(ToolError) -> [AttributeListing.Descriptor] {
        let name = nameOf(characteristic.uuid.uuid)
        let found = try await usable("discovering the descriptors of \(name)", device, &listing) {
            try await device.peripheral.discover(descriptorsFor: characteristic, deadline: Self.answerLimit)
        }
        var descriptors: [AttributeListing.Descriptor] = []
        for descriptor in found {
            let uuid = descriptor.uuid.uuid
            let value = try await value("reading \(nameOf(uuid))", device) {
                try await device.peripheral.read(descriptor, deadline: Self.answerLimit)
            }
            descriptors.append(.init(uuid: uuid, handle: descriptor.handle, value: value))
        }
        return descriptors
    }

    private func value(
        _ doing: String,
        _ device: FoundDevice,
        _ read: () async throws -> Data
    ) async throws(ToolError) -> AttributeListing.Value {
        switch try await answer(doing, device, read) {
        case .success(let value): .known(PacketBuffer(copying: value))
        case .failure(let error): .refused(error.localizedDescription)
        }
    }
}

extension DeviceClient {
    /// Returns a value, or the ATT error with which the device refuses it.
    func answer(
        _ doing: String,
        _ device: FoundDevice,
        _ read: () async throws -> Data
    ) async throws(ToolError) -> Result<Data, CBATTError> {
        try await attempt(doing, device) {
            do {
                return .success(try await read())
            } catch let error as CBATTError {
                return .failure(error)
            }
        }
    }

    func link(of device: FoundDevice) async throws(ToolError) -> LinkInformation {
        try await attempt("reading the properties of the link", device) {
            try await device.peripheral.linkInformation(deadline: Self.answerLimit)
        }
    }
}

extension AttributeListing.Service {
    fileprivate init(_ service: CBService, including included: [CBService], _ characteristics: [CBCharacteristic]) {
        self.init(
            uuid: service.uuid.uuid,
            handle: service.handle,
            isPrimary: service.isPrimary,
            includes: included.map { .init(uuid: $0.uuid.uuid, handle: $0.handle) },
            characteristics: characteristics.map {
                .init(
                    uuid: $0.uuid.uuid,
                    handle: $0.handle,
                    properties: UInt8(truncatingIfNeeded: $0.properties.rawValue)
                )
            }
        )
    }
}
