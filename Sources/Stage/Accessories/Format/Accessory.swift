import BluetoothTypes

/// A Bluetooth LE accessory without code: its advertisement, its attribute table, and its behaviour.
///
/// It is read from a JSON file, whose format `Documentation/Accessories.md` describes. An ``AccessoryPlayer`` plays it.
public struct Accessory: Hashable, Sendable {
    /// The version of the format.
    public static let format = 1

    /// The name of the device.
    public var name: String
    /// A description of the accessory, for readers of the file.
    public var summary: String?
    /// The advertisement.
    ///
    /// All data go into one legacy advertisement.
    public var advertising: Advertising
    /// How the accessory pairs.
    public var security: Security
    /// The services, in the order of their handles.
    public var services: [Service]
    /// Whether centrals can measure the distance by Channel Sounding: the accessory has the Ranging Service.
    public var hasChannelSounding = false
    /// Values that no central sees, which rules remember and compare.
    public var hiddenValues: [HiddenValue] = []
    /// The faults that begin at a time, or by a write.
    public var faults: [ScheduledFault] = []

    /// Creates an accessory that advertises its name.
    public init(name: String, services: [Service] = []) {
        self.name = name
        self.services = services
        advertising = Advertising(name: name)
        security = Security()
    }

    /// The data of an advertisement, and its timing.
    public struct Advertising: Hashable, Sendable {
        /// The advertised name; nil for none.
        public var name: String?
        /// The advertised services, the most important first.
        public var services: [BluetoothUUID] = []
        /// The company identifier and the company's data; nil for none.
        public var manufacturerData: ManufacturerData?
        /// The data of services, in the order of the advertisement.
        public var serviceData: [ServiceData] = []
        /// The advertising interval; nil for that which Apple recommends for accessories.
        public var interval: Duration?
        /// Whether centrals can connect.
        public var isConnectable = true

        /// Creates an advertisement with this name, or without one.
        public init(name: String? = nil) {
            self.name = name
        }
    }

    /// Data that a company defines.
    public struct ManufacturerData: Hashable, Sendable {
        /// The company identifier (Bluetooth Assigned Numbers 7).
        public var company: UInt16
        /// The data after it.
        public var data: Value

        /// Creates the data of a company.
        public init(company: UInt16, data: Value) {
            self.company = company
            self.data = data
        }
    }

    /// Data that a service defines.
    public struct ServiceData: Hashable, Sendable {
        /// The service that defines the data.
        public var uuid: BluetoothUUID
        /// The data, without the UUID.
        public var value: Value

        /// Creates the data of a service.
        public init(uuid: BluetoothUUID, value: Value) {
            self.uuid = uuid
            self.value = value
        }
    }

    /// How an accessory pairs.
    public struct Security: Hashable, Sendable {
        /// The input and output for codes (Core Vol 3 Part H 2.3.2).
        public enum InputOutput: String, CaseIterable, Sendable {
            case none, display, displayAndButtons, keyboard, displayAndKeyboard
        }

        /// Whether the accessory pairs.
        public var allowsPairing = true
        /// The input and output for codes.
        public var inputOutput = InputOutput.none
        /// Whether the address never changes.
        public var hasFixedAddress = true
        /// The time after which a private address changes; nil for 15 minutes.
        public var addressLifetime: Duration?

        /// Creates the security of a device without input and output, which pairs.
        public init() {}
    }

    /// A value that no central sees.
    public struct HiddenValue: Hashable, Sendable {
        /// The name by which the file refers to the value.
        public var id: String
        /// The value at the beginning.
        public var value: Value

        /// Creates a value, by default an empty one.
        public init(id: String, value: Value = Value()) {
            self.id = id
            self.value = value
        }
    }

    /// A service of the attribute table.
    public struct Service: Hashable, Sendable {
        /// The type of the service.
        public var uuid: BluetoothUUID
        /// Whether it is a primary service.
        public var isPrimary = true
        /// The services that this one includes, which come before it.
        public var includes: [BluetoothUUID] = []
        /// The characteristics, in the order of their handles.
        public var characteristics: [Characteristic] = []

        /// Creates a service, by default a primary one without characteristics.
        public init(uuid: BluetoothUUID, isPrimary: Bool = true, characteristics: [Characteristic] = []) {
            self.uuid = uuid
            self.isPrimary = isPrimary
            self.characteristics = characteristics
        }
    }

    /// A characteristic of a service.
    public struct Characteristic: Hashable, Sendable {
        /// An operation that a central can perform on a characteristic.
        public enum Property: String, CaseIterable, Sendable {
            case read, write, writeWithoutResponse, notify, indicate
        }

        /// The protection of the link that an access requires.
        public enum Protection: String, CaseIterable, Sendable {
            case plain, encrypted, authenticated
        }

        /// The type of the characteristic.
        public var uuid: BluetoothUUID
        /// The name by which the file refers to the characteristic; nil for its UUID.
        public var id: String?
        /// The operations that a central can perform.
        public var properties: Set<Property>
        /// The protection that reads require.
        public var reading = Protection.plain
        /// The protection that writes require.
        public var writing = Protection.plain
        /// The protection that subscriptions require.
        public var notifying = Protection.plain
        /// The value at the beginning.
        public var value = Value()
        /// How the value changes over time.
        public var changes: [Change] = []
        /// Whether the changes start over after the last one.
        public var repeatsChanges = false
        /// The time between notifications to subscribers; nil for none on a schedule.
        public var notificationInterval: Duration?
        /// Whether subscribers get each new value.
        public var notifiesChanges = true
        /// How reads are answered.
        public var onRead = Response()
        /// How writes are answered: by the first rule that fits. Without one, the value is stored.
        public var onWrite: [Rule] = []
        /// The descriptors, except for those that the system adds.
        public var descriptors: [Descriptor] = []

        /// Creates a characteristic that has an empty value and no protection.
        public init(uuid: BluetoothUUID, properties: Set<Property>) {
            self.uuid = uuid
            self.properties = properties
        }
    }

    /// A descriptor with a constant value.
    public struct Descriptor: Hashable, Sendable {
        /// The type of the descriptor.
        public var uuid: BluetoothUUID
        /// The value, which never changes.
        public var value: Value

        /// Creates a descriptor with a constant value.
        public init(uuid: BluetoothUUID, value: Value) {
            self.uuid = uuid
            self.value = value
        }
    }

    /// A change of a value over time.
    public struct Change: Hashable, Sendable {
        /// The time since the change before.
        public var after: Duration
        /// The value after the change.
        public var value: Value

        /// Creates a change, at least a millisecond after the one before.
        public init(after: Duration, value: Value) {
            self.after = after
            self.value = value
        }
    }

    /// How a request is answered.
    public struct Response: Hashable, Sendable {
        /// The time before the answer.
        public var delay = Duration.zero
        /// The fault of the answer; nil for none.
        public var fault: Fault?
        /// The requests that have the fault: each one, each second one, …
        public var faultPeriod = 1

        /// Creates a response, by default one without delay and fault.
        public init(delay: Duration = .zero, fault: Fault? = nil, faultPeriod: Int = 1) {
            self.delay = delay
            self.fault = fault
            self.faultPeriod = faultPeriod
        }
    }

    /// A deliberate fault of an answer.
    public enum Fault: Hashable, Sendable {
        /// An ATT error with this code.
        case attError(UInt8)
        /// A value that is cut, or filled with zeros, to a wrong length.
        case length(Int)
        /// No answer at all: the central gives up the link after 30 s.
        case noAnswer
    }

    /// The reaction to a write.
    public struct Rule: Hashable, Sendable {
        /// The condition on the written value; nil for any value.
        public var content: Content?
        /// The values that characteristics must have.
        public var conditions: [Condition] = []
        /// The IDs or UUIDs of characteristics: the rule fits only while the writer is not subscribed to all of them.
        public var missingSubscriptions: [String] = []
        /// The answer to the write request.
        public var response = Response()
        /// The changes after the answer, in order.
        public var effects: [Effect] = []

        /// Creates a rule, by default one that fits any write and has no effect.
        public init(
            content: Content? = nil,
            conditions: [Condition] = [],
            missingSubscriptions: [String] = [],
            response: Response = Response(),
            effects: [Effect] = []
        ) {
            self.content = content
            self.conditions = conditions
            self.missingSubscriptions = missingSubscriptions
            self.response = response
            self.effects = effects
        }
    }

    /// A condition on a written value.
    public enum Content: Hashable, Sendable {
        /// The value equals this one.
        case equals(Value)
        /// The value begins with this one.
        case beginsWith(Value)
        /// The value has this length, in octets.
        case length(Int)
    }

    /// The value that a characteristic must have.
    public struct Condition: Hashable, Sendable {
        /// The ID or the UUID of the characteristic.
        public var characteristic: String
        /// The value that it must have.
        public var value: Value

        /// Creates a condition on the value of a characteristic.
        public init(characteristic: String, value: Value) {
            self.characteristic = characteristic
            self.value = value
        }
    }

    /// The writes that have an effect: each n-th one that the rule fits.
    public enum Period: Hashable, Sendable {
        /// Each n-th write that the rule fits.
        case every(Int)
        /// Each n-th one, where n is the number in a value, least significant octet first; none for 0.
        case value(String)
    }

    /// An effect of a write.
    public struct Effect: Hashable, Sendable {
        /// The way in which subscribers and the table get the value.
        public enum Verb: String, CaseIterable, Sendable {
            /// The characteristic gets the value.
            case set
            /// Subscribers get the value, and that of the characteristic stays.
            case notify
            /// The value is added to a hidden value.
            case append
            /// The effects of writes to the characteristic that are still to come are cancelled.
            case cancel
        }

        /// Whether the table changes, or only subscribers get the value.
        public var verb: Verb
        /// The ID or the UUID of the characteristic, or the ID of the hidden value.
        public var characteristic: String
        /// The value, which may contain what was written.
        public var value: Value
        /// The time after the answer.
        public var after = Duration.zero
        /// The writes that have the effect; nil for all.
        public var period: Period?

        /// Creates an effect, by default one right after the answer.
        public init(verb: Verb, characteristic: String, value: Value = Value(), after: Duration = .zero) {
            self.verb = verb
            self.characteristic = characteristic
            self.value = value
            self.after = after
        }
    }
}

extension Accessory {
    /// All characteristics, in the order of the file.
    var characteristics: [Characteristic] { services.flatMap(\.characteristics) }

    /// The initial values of the characteristics, and then the hidden ones.
    var initialValues: [[UInt8]] { characteristics.map { $0.value.octets() } + hiddenValues.map { $0.value.octets() } }

    /// Returns the place of a value in ``initialValues``, by an ID or a UUID.
    func slot(of reference: String) -> Int? {
        if let index = index(of: reference) { return index }
        return hiddenValues.firstIndex { $0.id == reference }.map { characteristics.count + $0 }
    }

    /// Returns the place of a characteristic in ``characteristics``: that with this ID, or the only one with this UUID.
    package func index(of reference: String) -> Int? {
        let all = characteristics
        if let index = all.firstIndex(where: { $0.id == reference }) { return index }
        guard let uuid = BluetoothUUID(reference) else { return nil }
        let fitting = all.indices.filter { all[$0].uuid == uuid }
        return fitting.count == 1 ? fitting.first : nil
    }
}
