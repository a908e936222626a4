import ATT
import BluetoothTypes
import GATT

/// Uses a peer whose table has been read: writes a value, waits for a change of its services, follows a value. Lives on
/// the loop.
final class Visit {
    struct Plan: Sendable {
        /// The characteristic to follow; nil for the table's default.
        var follow: BluetoothUUID?
        /// The number of values to follow.
        var notifications = 3
        /// The value to write first, and to read back.
        var write: ValueToWrite?
        /// Whether to wait for a Service Changed indication.
        var awaitsChange = false
    }

    enum End {
        case done
        case stopped(GATTError)
        case missing(BluetoothUUID)
        /// The characteristic to follow does not notify or indicate. `table` has the alternatives.
        case doesNotNotify(BluetoothUUID, table: AttributeTable)
    }

    private let client: GATTClient
    private let plan: Plan
    private var table: AttributeTable
    private let completion: (End) -> Void
    private var walk: TableWalk?
    private var left: Int

    init(_ client: GATTClient, _ plan: Plan, table: AttributeTable, completion: @escaping (End) -> Void) {
        self.client = client
        self.plan = plan
        self.table = table
        self.completion = completion
        left = plan.notifications
    }

    func begin() {
        guard let write = plan.write else { return awaitChange() }
        guard let target = table.characteristic(write.uuid) else { return completion(.missing(write.uuid)) }
        client.write(write.value, to: target.value) { [weak self] result in
            self?.proceed(result) { visit, _ in
                Console.line("wrote \(write.value.count) octets to \(nameOf(write.uuid))")
                visit.readBack(target)
            }
        }
    }

    private func readBack(_ target: DiscoveredCharacteristic) {
        guard target.properties.contains(.read) else { return awaitChange() }
        client.read(target.value) { [weak self] result in
            self?.proceed(result) { visit, value in
                Console.line("read back \(nameOf(target.uuid)): \(shown(value))")
                visit.awaitChange()
            }
        }
    }

    // MARK: Changes of the services

    private func awaitChange() {
        guard plan.awaitsChange else { return follow() }
        client.onServiceChanged = { [weak self] handles in self?.changed(handles) }
        client.watchServices { [weak self] result in
            self?.proceed(result) { visit, isThere in
                guard isThere else { return visit.completion(.missing(GATTUUID.serviceChanged)) }
                Console.line("waiting for the services to change")
            }
        }
    }

    private func changed(_ handles: ClosedRange<UInt16>) {
        client.onServiceChanged = nil
        Console.line("services changed from \(hex(handles.lowerBound)) to \(hex(handles.upperBound))")
        let walk = TableWalk(client) { [weak self] result in
            self?.proceed(result) { visit, table in
                visit.table = table
                for line in table.lines { Console.line(line) }
                visit.follow()
            }
        }
        self.walk = walk
        walk.begin()
    }

    // MARK: Following a value

    private func follow() {
        guard plan.notifications > 0 else { return completion(.done) }
        guard let followed = plan.follow.map({ table.toFollow($0) }) ?? table.followed else {
            return completion(plan.follow.map(End.missing) ?? .done)
        }
        guard followed.canNotify else { return completion(.doesNotNotify(followed.uuid, table: table)) }
        client.onValue = { [weak self] handle, value, _ in self?.valueArrived(handle, value, followed) }
        client.setNotifying(true, followed) { [weak self] result in
            if case .failure(let error) = result, let response = error.response {
                Console.line("cannot follow \(nameOf(followed.uuid)): \(response.code)")
                self?.completion(.done)
                return
            }
            if case .failure(.noClientConfiguration) = result, let self {
                return completion(.doesNotNotify(followed.uuid, table: table))
            }
            self?.proceed(result) { _, _ in Console.line("following \(nameOf(followed.uuid))") }
        }
    }

    private func valueArrived(_ handle: UInt16, _ value: PacketBuffer, _ followed: DiscoveredCharacteristic) {
        guard handle == followed.value, left > 0 else { return }
        Console.line("value of \(nameOf(followed.uuid)): \(shown(value))")
        left -= 1
        guard left == 0 else { return }
        client.setNotifying(false, followed) { [weak self] _ in self?.completion(.done) }
    }

    private func proceed<Value>(_ result: Result<Value, GATTError>, _ next: (Visit, Value) -> Void) {
        switch result {
        case .success(let value): next(self, value)
        case .failure(let error): completion(.stopped(error))
        }
    }
}

/// A value to write, from the command line: `UUID=HEX`.
struct ValueToWrite: Sendable {
    var uuid: BluetoothUUID
    var value: PacketBuffer

    /// Returns nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let uuid = BluetoothUUID(parts[0]), let value = octets(hexadecimal: parts[1]) else {
            return nil
        }
        self.uuid = uuid
        self.value = PacketBuffer(copying: value)
    }
}

/// Decodes hexadecimal digits. Returns nil for any other text.
func octets(hexadecimal text: some StringProtocol) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
