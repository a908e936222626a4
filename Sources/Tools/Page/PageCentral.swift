import AssignedNumbers
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import ServiceMessages

/// The app by which the page uses devices: a central manager of the service, like that of any other app.
actor PageCentral {
    static let scanTime = Duration.seconds(30)
    static let reportInterval = Duration.milliseconds(500)
    /// The maximum number of devices in a report. Those that come later are found by the next scan.
    static let maximumDevices = 2_048
    /// The time limits of a connection and of a request. The attribute protocol has one of 30 s (Core Vol 3 Part F
    /// 3.3.3).
    static let connectLimit = Duration.seconds(20)
    static let answerLimit = Duration.seconds(35)
    /// The time for the user to answer a prompt, and for both devices to pair after that.
    static let pairingLimit = Duration.seconds(60)

    typealias Publish = @Sendable (_ name: String, _ json: String) -> Void

    private struct Device {
        let peripheral: CBPeripheral
        var characteristics: [String: CBCharacteristic] = [:]
        var follows: [String: Task<Void, Never>] = [:]
        var watch: Task<Void, Never>?
        /// The measurement of the distance.
        var measurement: Task<Void, Never>?
    }

    private let central: CBCentralManager
    private let publish: Publish
    private var found: [UUID: Found] = [:]
    private var peripherals: [UUID: CBPeripheral] = [:]
    private var unreported: Set<UUID> = []
    private var devices: [UUID: Device] = [:]
    private var scan: Task<Void, Never>?

    /// Creates the manager. Call it where `ServiceLocator` has the service.
    init(publish: @escaping Publish) {
        central = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "harald.page"))
        self.publish = publish
    }

    // MARK: Scan

    /// Scans for a while, from now on.
    func startScan() {
        scan?.cancel()
        publish("scanning", "true")
        scan = Task { [weak self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self?.takeDiscoveries() }
                group.addTask {
                    while !Task.isCancelled {
                        try? await Task.sleep(for: Self.reportInterval)
                        await self?.report()
                    }
                }
                group.addTask { try? await Task.sleep(for: Self.scanTime) }
                // The first that ends is the time, or the scan because Bluetooth went off.
                var left = 3
                while left > 2, await group.next() != nil { left -= 1 }
                group.cancelAll()
            }
            guard !Task.isCancelled else { return }
            await self?.ended()
        }
    }

    func stopScan() {
        scan?.cancel()
        ended()
    }

    private func ended() {
        scan = nil
        report()
        publish("scanning", "false")
    }

    private func takeDiscoveries() async {
        do {
            try await central.poweredOn(deadline: Self.connectLimit)
            try await receiveAll(of: { central.scan(options: ScanOptions(allowsDuplicates: true)) }) { note($0) }
        } catch is CancellationError {
            return
        } catch {
            publish("trouble", JSON.of(PageFault.words(for: error)))
        }
    }

    private func note(_ discovery: Discovery) {
        let id = discovery.peripheral.identifier
        guard found[id] != nil || found.count < Self.maximumDevices else { return }
        peripherals[id] = discovery.peripheral
        found[id] = Found(discovery, after: found[id])
        unreported.insert(id)
    }

    private func report() {
        guard !unreported.isEmpty else { return }
        publish("found", JSON.of(unreported.compactMap { found[$0] }))
        unreported = []
    }

    // MARK: Links

    /// Connects to a device and reads its table.
    func connect(_ id: UUID) async throws {
        try await central.poweredOn(deadline: Self.connectLimit)
        let known = peripherals[id] ?? central.retrievePeripherals(withIdentifiers: [id]).first
        guard let peripheral = known else { throw PageFault("this device is not known any more; scan again") }
        try await central.openConnection(to: peripheral, deadline: Self.connectLimit)
        devices[id]?.watch?.cancel()
        devices[id]?.measurement?.cancel()
        devices[id] = Device(peripheral: peripheral)
        devices[id]?.watch = Task { [weak self, central] in
            // Too many disconnections at once are one too.
            do { for try await _ in central.disconnections(of: peripheral) { break } } catch {}
            await self?.lost(id)
        }
        try await discover(id, peripheral)
    }

    private func discover(_ id: UUID, _ peripheral: CBPeripheral) async throws {
        var table = Table(peer: id, services: [])
        var characteristics: [String: CBCharacteristic] = [:]
        for (index, service) in try await peripheral.discover(services: nil, deadline: Self.answerLimit).enumerated() {
            var listed = Table.Service(service)
            let found = try await peripheral.discover(characteristics: nil, for: service, deadline: Self.answerLimit)
            for (number, characteristic) in found.enumerated() {
                let key = "\(index).\(number)"
                characteristics[key] = characteristic
                listed.characteristics.append(Table.Characteristic(characteristic, key))
            }
            table.services.append(listed)
        }
        devices[id]?.characteristics = characteristics
        let link = try await peripheral.linkInformation(deadline: Self.answerLimit)
        table.link = Table.Link(link)
        publish("table", JSON.of(table))
    }

    private func lost(_ id: UUID) {
        guard let device = devices.removeValue(forKey: id) else { return }
        device.follows.values.forEach { $0.cancel() }
        device.measurement?.cancel()
        publish("tableClosed", JSON.of(id.uuidString))
    }

    func disconnect(_ id: UUID) async {
        guard let device = devices[id] else { return }
        lost(id)
        device.watch?.cancel()
        await central.disconnect(device.peripheral)
    }

    /// Stops the scan, and leaves all devices.
    func leave() async {
        if scan != nil { stopScan() }
        for id in devices.keys.sorted(by: { $0.uuidString < $1.uuidString }) { await disconnect(id) }
    }

    // MARK: Values

    private func characteristic(_ id: UUID, _ key: String) throws -> (CBPeripheral, CBCharacteristic) {
        guard let device = devices[id], let characteristic = device.characteristics[key] else {
            throw PageFault("the device is not connected any more")
        }
        return (device.peripheral, characteristic)
    }

    func read(_ id: UUID, _ key: String) async throws {
        let (peripheral, characteristic) = try characteristic(id, key)
        let data = try await peripheral.read(characteristic, deadline: Self.answerLimit)
        publish("value", JSON.of(Value(id, key, characteristic, data, isNotified: false)))
    }

    func write(_ id: UUID, _ key: String, _ octets: [UInt8]) async throws {
        let (peripheral, characteristic) = try characteristic(id, key)
        if characteristic.properties.contains(.write) {
            try await peripheral.write(Data(octets), for: characteristic, deadline: Self.answerLimit)
        } else {
            try await peripheral.writeWithoutResponse(Data(octets), for: characteristic, deadline: Self.answerLimit)
        }
    }

    /// Follows the values of a characteristic, or no longer.
    func follow(_ id: UUID, _ key: String, _ isOn: Bool) throws {
        let (peripheral, characteristic) = try characteristic(id, key)
        devices[id]?.follows.removeValue(forKey: key)?.cancel()
        guard isOn else { return }
        devices[id]?.follows[key] = Task { [publish] in
            do {
                for try await data in peripheral.notifications(of: characteristic) {
                    publish("value", JSON.of(Value(id, key, characteristic, data, isNotified: true)))
                }
            } catch {
                publish("trouble", JSON.of(PageFault.words(for: error)))
            }
        }
    }

    // MARK: Distance

    /// Measures the distance to a device from now on. Pairs first, by reading the ranging features: distances are
    /// measured to paired devices only (behaviour 17.2).
    func measure(_ id: UUID) async throws {
        guard let device = devices[id] else { throw PageFault("the device is not connected any more") }
        guard device.measurement == nil else { return }
        guard let features = device.characteristics.values.first(where: { $0.uuid == Self.rangingFeatures }) else {
            throw PageFault("the device has no Ranging Service, so its distance cannot be measured")
        }
        let peripheral = device.peripheral
        devices[id]?.measurement = Task { [publish, weak self] in
            publish("measuring", JSON.of(Measuring(peer: id, isOn: true)))
            do {
                _ = try await peripheral.read(features, deadline: Self.pairingLimit)
                for try await distance in peripheral.distances() {
                    if let metres = try? distance.get() { publish("value", JSON.of(Value(id, metres: metres))) }
                }
            } catch is CancellationError {
            } catch {
                publish("trouble", JSON.of(PageFault.words(for: error)))
            }
            await self?.measurementEnded(id)
        }
    }

    func stopMeasuring(_ id: UUID) { devices[id]?.measurement?.cancel() }

    private func measurementEnded(_ id: UUID) {
        devices[id]?.measurement = nil
        publish("measuring", JSON.of(Measuring(peer: id, isOn: false)))
    }

    private static let rangingFeatures = CBUUID(string: "2C14")
}

/// A fault of the page itself, in words for its user.
struct PageFault: LocalizedError {
    let errorDescription: String?

    init(_ text: String) {
        errorDescription = text
    }

    /// An error in words, with what to do where that is known.
    static func words(for error: any Error) -> String {
        switch error {
        case ExtrasError.deadlinePassed: "the device does not answer; it may be out of range"
        case ExtrasError.notPoweredOn(.unauthorized): "this page may not use Bluetooth; allow it in the service"
        case ExtrasError.notPoweredOn: "Bluetooth is not on"
        case ExtrasError.overflow: "the device sends more than the page can show; follow it again"
        case ExtrasError.tooLong(let maximum): "the value is too long: at most \(maximum) octets"
        case let error as CBError where error.code == .operationNotSupported || error.code.isOfSounding:
            (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
        default: error.localizedDescription
        }
    }
}

/// The values that the page shows, as JSON.
extension PageCentral {
    /// A device that a scan has found.
    struct Found: Encodable {
        let identifier: UUID
        let name: String?
        let rssi: Int?
        let isConnectable: Bool
        let services: [String]
        let company: String?
        let txPower: Int?

        init(_ discovery: Discovery, after last: Found?) {
            let content = discovery.content
            identifier = discovery.peripheral.identifier
            name = content.localName ?? discovery.peripheral.name ?? last?.name
            rssi = discovery.rssi == 127 ? nil : discovery.rssi
            isConnectable = content.isConnectable
            let listed = (content.services + content.overflowServices).prefix(16).map(\.title)
            // A scan response and an advertisement come one by one.
            services = listed.isEmpty ? last?.services ?? [] : listed
            company = content.manufacturerData.flatMap(Self.company) ?? last?.company
            txPower = content.txPowerLevel ?? last?.txPower
        }

        private static func company(_ data: Data) -> String? {
            guard data.count >= 2 else { return nil }
            return AssignedNumbers.companyTitle(UInt16(data[0]) | UInt16(data[1]) << 8)
        }
    }

    /// The attribute table of a device, and its link.
    struct Table: Encodable {
        struct Service: Encodable {
            let title: String
            let isPrimary: Bool
            var characteristics: [Characteristic] = []

            init(_ service: CBService) {
                (title, isPrimary) = (service.uuid.title, service.isPrimary)
            }
        }

        struct Characteristic: Encodable {
            let key: String
            let title: String
            let canRead: Bool
            let canWrite: Bool
            let canNotify: Bool
            /// The names of its properties, for the user.
            let properties: [String]

            init(_ characteristic: CBCharacteristic, _ key: String) {
                let properties = characteristic.properties
                (self.key, title) = (key, characteristic.uuid.title)
                canRead = properties.contains(.read)
                canWrite = properties.contains(.write) || properties.contains(.writeWithoutResponse)
                canNotify = properties.contains(.notify) || properties.contains(.indicate)
                self.properties = Self.names.filter { properties.contains($0.0) }.map(\.1)
            }

            private static let names: [(CBCharacteristicProperties, String)] = [
                (.broadcast, "broadcast"), (.read, "read"), (.write, "write"),
                (.writeWithoutResponse, "write without response"), (.notify, "notify"), (.indicate, "indicate"),
                (.authenticatedSignedWrites, "signed write"),
            ]
        }

        struct Link: Encodable {
            let milliseconds: Double
            let latency: Int
            let mtu: Int
            let isEncrypted: Bool
            let isBonded: Bool

            init(_ link: LinkInformation) {
                (milliseconds, latency, mtu) = (link.interval / .milliseconds(1), link.latency, link.mtu)
                (isEncrypted, isBonded) = (link.isEncrypted, link.isBonded)
            }
        }

        let peer: UUID
        var services: [Service]
        var link: Link?
    }

    /// Whether the distance to a device is being measured.
    struct Measuring: Encodable {
        let peer: UUID
        let isOn: Bool
    }

    struct Value: Encodable {
        let peer: UUID
        let key: String
        let words: String
        let hexadecimal: String
        /// The first number in the words, to plot.
        let number: Double?
        let isNotified: Bool

        init(_ peer: UUID, _ key: String, _ characteristic: CBCharacteristic, _ data: Data, isNotified: Bool) {
            (self.peer, self.key, self.isNotified) = (peer, key, isNotified)
            hexadecimal = ValueText.hexadecimal(data)
            let decoded = BluetoothUUID(characteristic.uuid.uuidString).flatMap { ValueText.words(of: data, in: $0) }
            words = decoded ?? ValueText.plain(data)
            number = decoded.flatMap(Self.number)
        }

        /// A distance, as the value of an attribute that the device does not have.
        init(_ peer: UUID, metres: Double) {
            (self.peer, key, words, hexadecimal) = (peer, "distance", String(format: "%.2f m", metres), "")
            (number, isNotified) = ((metres * 100).rounded() / 100, true)
        }

        private static func number(in words: String) -> Double? {
            Double(words.prefix { $0.isNumber || $0 == "." || $0 == "-" })
        }
    }
}

extension CBError.Code {
    fileprivate var isOfSounding: Bool {
        self == .channelSoundingConfigurationFailed || self == .channelSoundingProcedureFailed
    }
}

extension CBUUID {
    fileprivate var title: String {
        BluetoothUUID(uuidString).map { AssignedNumbers.title(of: $0) } ?? uuidString
    }
}

/// Receives the elements of a stream. When it overflows, because this process fell behind, another one takes its place:
/// of a value that is sent again and again, a loss does not matter.
///
/// - Throws: What a stream throws, other than ``ExtrasError/overflow``.
func receiveAll<Elements: AsyncSequence>(
    of stream: () -> Elements,
    isolation: isolated (any Actor)? = #isolation,
    _ receive: (Elements.Element) -> Void
) async throws where Elements.Failure == any Error {
    while true {
        do {
            for try await element in stream() { receive(element) }
            return
        } catch ExtrasError.overflow {
            try Task.checkCancellation()
        }
    }
}
