import Administration
import BluetoothService
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import Synchronization

// MARK: - Finding a device

extension DeviceClient {
    /// Finds the device that the user has named: among those that the service is connected to, or by a scan.
    func find(_ selector: DeviceSelector, seconds: Double) async throws(ToolError) -> FoundDevice {
        if let kept = try kept(selector) { return kept }
        try checkAddress(selector)
        report.say("searching for \(selector.quoted)")
        if let connected = try connected(selector) { return connected }
        if let identifier = selector.identifier,
            let peripheral = central.retrievePeripherals(withIdentifiers: [identifier]).first
        {
            return found(candidate(peripheral), peripheral)
        }
        var choice = DeviceChoice<CBPeripheral>(selector)
        do {
            try await listen(.seconds(seconds), &choice)
        } catch {
            throw ToolError(error, doing: "searching", with: selector.text)
        }
        switch choice.result {
        case .one(let candidate, let peripheral): return found(candidate, peripheral)
        case .several(let devices): throw .ambiguousDevice(selector, devices)
        case .none: throw .noSuchDevice(selector, .explore, seconds: seconds, found: choice.found)
        }
    }

    /// Refuses an address if the command uses a service, which has none for apps.
    private func checkAddress(_ selector: DeviceSelector) throws(ToolError) {
        if case .service = facts.place, selector.isAddress { throw .addressOfService(selector.text) }
    }

    private func found(_ candidate: DeviceCandidate, _ peripheral: CBPeripheral) -> FoundDevice {
        let device = FoundDevice(peripheral: peripheral, candidate: candidate)
        memory.add(candidate)
        report.step(LinkDocument(device: candidate.document, state: "found"), as: "found \(candidate.label)")
        return device
    }

    private func kept(_ selector: DeviceSelector) throws(ToolError) -> FoundDevice? {
        var choice = DeviceChoice<FoundDevice>(selector)
        for device in memory.connected { choice.add(device.candidate, device) }
        switch choice.result {
        case .none: return nil
        case .several(let devices): throw .ambiguousDevice(selector, devices)
        case .one(_, let device): return device
        }
    }

    /// Returns the connected device that fits, if there is one. Connected devices rarely advertise.
    private func connected(_ selector: DeviceSelector) throws(ToolError) -> FoundDevice? {
        var choice = DeviceChoice<UUID>(selector)
        let service = selector.service
        let served = service.map { central.retrieveConnectedPeripherals(withServices: [CBUUID($0)]) } ?? []
        for peripheral in served {
            var candidate = candidate(peripheral)
            candidate.services = [service].compactMap(\.self)
            choice.add(candidate, peripheral.identifier)
        }
        for device in facts.known where device.isConnected && service == nil {
            let names = [device.name].compactMap(\.self)
            choice.add(DeviceCandidate(identifier: device.identifier, names: names), device.identifier)
        }
        switch choice.result {
        case .none: return nil
        case .several(let devices): throw .ambiguousDevice(selector, devices)
        case .one(let candidate, let identifier):
            guard let peripheral = central.retrievePeripherals(withIdentifiers: [identifier]).first else { return nil }
            return found(candidate, peripheral)
        }
    }

    /// Scans until the choice is clear, for at most `limit`.
    private func listen(_ limit: Duration, _ choice: inout DeviceChoice<CBPeripheral>) async throws {
        var timers = [central.callBack(after: limit) { [central] in central.stopScan() }]
        defer { for cancel in timers { cancel() } }
        for try await discovery in central.scan(options: ScanOptions(allowsDuplicates: true)) {
            let candidate = candidate(discovery)
            guard discovery.content.isConnectable else {
                choice.pass(candidate)
                continue
            }
            let isFirst = choice.best == nil
            choice.add(candidate, discovery.peripheral)
            if choice.best == .unique { return }
            guard isFirst, choice.best != nil else { continue }
            // Other devices may fit as well.
            timers.append(
                central.callBack(after: DeviceChoice<CBPeripheral>.settling) { [central] in central.stopScan() }
            )
        }
        try Task.checkCancellation()
    }

    private func candidate(_ peripheral: CBPeripheral) -> DeviceCandidate {
        let names = [peripheral.name].compactMap(\.self)
        return DeviceCandidate(
            identifier: peripheral.identifier,
            address: facts.address(peripheral.identifier),
            names: names
        )
    }

    private func candidate(_ discovery: Discovery) -> DeviceCandidate {
        var candidate = candidate(discovery.peripheral)
        if let name = discovery.content.localName, !candidate.names.contains(name) { candidate.names.append(name) }
        candidate.services = discovery.content.services.map(\.uuid)
        memory.add(candidate)
        return candidate
    }
}

// MARK: - Scanning

extension DeviceClient {
    func scan(_ plan: ScanPlan) async throws(ToolError) {
        if let until = plan.until { try checkAddress(until) }
        report.say("scanning")
        var output = ScanOutput(plan, report)
        do {
            if try await listen(plan, &output) { return }
        } catch {
            throw ToolError(error, doing: "scanning", with: "")
        }
        try output.end()
    }

    /// Returns whether the device was found at which the scan stops.
    private func listen(_ plan: ScanPlan, _ output: inout ScanOutput) async throws -> Bool {
        let cancel = central.callBack(after: .seconds(plan.seconds)) { [central] in central.stopScan() }
        defer { cancel() }
        let services = plan.services.isEmpty ? nil : plan.services.map { CBUUID($0) }
        for try await discovery in central.scan(services: services, options: ScanOptions(allowsDuplicates: true)) {
            if output.show(ShownAdvertisement(discovery, from: candidate(discovery))) { return true }
        }
        try Task.checkCancellation()
        return false
    }
}

extension ShownAdvertisement {
    fileprivate init(_ discovery: Discovery, from sender: DeviceCandidate) {
        let content = discovery.content
        self.init(
            sender: sender,
            rssi: discovery.rssi == Self.unknownRSSI ? nil : discovery.rssi,
            isConnectable: content.isConnectable,
            name: content.localName ?? discovery.peripheral.name,
            services: content.services.map(\.uuid),
            solicitedServices: content.solicitedServices.map(\.uuid),
            serviceData: content.serviceData.sorted { $0.key.uuidString < $1.key.uuidString }.map {
                ServiceData(service: $0.key.uuid, data: PacketBuffer(copying: $0.value))
            },
            manufacturerData: content.manufacturerData.map { PacketBuffer(copying: $0) },
            txPower: content.txPowerLevel
        )
    }

    /// The signal strength where it is not known (behaviour 2.13).
    private static let unknownRSSI = 127
}
