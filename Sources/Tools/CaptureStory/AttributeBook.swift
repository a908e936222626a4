import AssignedNumbers
import BluetoothTypes

/// The attributes of a server, as far as a client has discovered them in the capture.
package struct AttributeBook: Hashable, Sendable {
    package struct Service: Hashable, Sendable {
        package var start: UInt16
        package var end: UInt16
        package var uuid: BluetoothUUID
    }

    package struct Characteristic: Hashable, Sendable {
        package var handle: UInt16
        package var value: UInt16
        package var properties: UInt8
        package var uuid: BluetoothUUID
    }

    static let primaryService: BluetoothUUID = 0x2800
    static let secondaryService: BluetoothUUID = 0x2801
    static let characteristic: BluetoothUUID = 0x2803
    static let clientConfiguration: BluetoothUUID = 0x2902
    static let genericAccess: BluetoothUUID = 0x1800
    static let genericAttribute: BluetoothUUID = 0x1801
    static let serviceChanged: BluetoothUUID = 0x2A05
    static let batteryLevel: BluetoothUUID = 0x2A19

    private var serviceTable: [UInt16: Service] = [:]
    private var characteristicTable: [UInt16: Characteristic] = [:]
    private var types: [UInt16: BluetoothUUID] = [:]

    package init() {}

    package var isEmpty: Bool { serviceTable.isEmpty && characteristicTable.isEmpty && types.isEmpty }
    /// The services in the order of their handles.
    package var services: [Service] { serviceTable.values.sorted { $0.start < $1.start } }
    /// The characteristics in the order of their handles.
    package var characteristics: [Characteristic] { characteristicTable.values.sorted { $0.handle < $1.handle } }

    /// Returns the types of the descriptors between a characteristic value and the next declaration.
    package func descriptors(of characteristic: Characteristic) -> [(handle: UInt16, uuid: BluetoothUUID)] {
        let declarations = characteristicTable.keys.filter { $0 > characteristic.handle }
        let starts = serviceTable.keys.filter { $0 > characteristic.handle }
        let next = (declarations + Array(starts)).min() ?? .max
        return types.filter { $0.key > characteristic.value && $0.key < next && !Self.isDeclaration($0.value) }
            .map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    private static func isDeclaration(_ uuid: BluetoothUUID) -> Bool {
        guard let number = uuid.uint16 else { return false }
        return (0x2800...0x2803).contains(number)
    }

    func type(of handle: UInt16) -> BluetoothUUID? { types[handle] }

    /// Returns the characteristic whose value or descriptor has a handle.
    func characteristic(around handle: UInt16) -> Characteristic? {
        if let declared = characteristicTable[handle &- 1], declared.value == handle { return declared }
        return characteristicTable.values.filter { $0.value <= handle }.max { $0.value < $1.value }
    }

    func service(around handle: UInt16) -> Service? {
        serviceTable.values.first { $0.start <= handle && $0.end >= handle }
    }

    /// Returns the name of an attribute: that of its type, and that of the characteristic for a descriptor.
    func title(_ handle: UInt16) -> String {
        let number = StoryWords.handle(handle)
        guard let type = types[handle] else { return number }
        let title = "\(number) \(AssignedNumbers.title(of: type))"
        guard let type = type.uint16, (0x2900...0x29FF).contains(type), let owner = characteristic(around: handle)
        else {
            return title
        }
        return "\(title) of \(AssignedNumbers.title(of: owner.uuid))"
    }

    // MARK: Responses

    /// Adds the services of a Read By Group Type Response.
    mutating func addGroups(_ payload: PacketBuffer) {
        guard let size = payload.octet(at: 1).map(Int.init), size >= 6 else { return }
        for element in elements(payload.suffix(after: 2), of: size) {
            guard let start = element.word(at: 0), let end = element.word(at: 2),
                let uuid = BluetoothUUID(littleEndian: element.suffix(after: 4))
            else { continue }
            addService(start, end, uuid)
        }
    }

    /// Adds the services of a Find By Type Value Response.
    mutating func addServices(_ payload: PacketBuffer, uuid: BluetoothUUID) {
        for element in elements(payload.suffix(after: 1), of: 4) {
            guard let start = element.word(at: 0), let end = element.word(at: 2) else { continue }
            addService(start, end, uuid)
        }
    }

    /// Adds the characteristics of a Read By Type Response.
    mutating func addCharacteristics(_ payload: PacketBuffer) {
        guard let size = payload.octet(at: 1).map(Int.init), size >= 7 else { return }
        for element in elements(payload.suffix(after: 2), of: size) {
            guard let handle = element.word(at: 0), let properties = element.octet(at: 2),
                let value = element.word(at: 3), let uuid = BluetoothUUID(littleEndian: element.suffix(after: 5)),
                hasRoom(for: handle)
            else { continue }
            types[handle] = Self.characteristic
            types[value] = uuid
            characteristicTable[handle] = .init(handle: handle, value: value, properties: properties, uuid: uuid)
        }
    }

    /// Adds the types of a Find Information Response.
    mutating func addTypes(_ payload: PacketBuffer) {
        guard let format = payload.octet(at: 1) else { return }
        let size = format == 1 ? 2 : 16
        for element in elements(payload.suffix(after: 2), of: 2 + size) {
            guard let handle = element.word(at: 0), hasRoom(for: handle),
                let uuid = BluetoothUUID(littleEndian: element.suffix(after: 2))
            else { continue }
            types[handle] = uuid
        }
    }

    private mutating func addService(_ start: UInt16, _ end: UInt16, _ uuid: BluetoothUUID) {
        guard hasRoom(for: start) else { return }
        types[start] = Self.primaryService
        serviceTable[start] = Service(start: start, end: end, uuid: uuid)
    }

    private func hasRoom(for handle: UInt16) -> Bool { types[handle] != nil || types.count < StoryLimits.attributes }

    private func elements(_ octets: PacketBuffer, of size: Int) -> [PacketBuffer] {
        stride(from: 0, through: octets.count - size, by: size).map { octets.slice($0..<($0 + size)) }
    }
}
