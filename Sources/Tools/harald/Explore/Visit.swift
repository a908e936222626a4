import ATT
import BluetoothTypes
import GATT

/// Uses a peer whose table has been read: writes a value, waits for a change of its services, follows a value. Lives on
/// the loop.
final class Visit {
    struct Plan: Sendable {
        /// The characteristic to follow; nil for the table's default.
        var follow: CharacteristicSelector?
        var notifications = 3
        /// The value to write first, and to read back.
        var write: ValueToWrite?
        /// Whether to wait for a Service Changed indication.
        var awaitsChange = false
        var isRaw = false
    }

    enum End {
        case done
        case stopped(GATTError)
        case missing(BluetoothUUID)
        /// The user has named no characteristic of the peer, several, or one that does not notify or indicate.
        case unclear(ToolError)
    }

    private let client: GATTClient
    private let plan: Plan
    private let device: DeviceDocument
    private let report: ToolReport
    private var table: TableWalk.Table
    private let completion: (End) -> Void
    private var walk: TableWalk?
    private var left: Int

    init(
        _ client: GATTClient,
        _ plan: Plan,
        of device: DeviceDocument,
        table: TableWalk.Table,
        report: ToolReport,
        completion: @escaping (End) -> Void
    ) {
        self.client = client
        self.plan = plan
        self.device = device
        self.report = report
        self.table = table
        self.completion = completion
        left = plan.notifications
    }

    func begin() {
        guard let write = plan.write else { return awaitChange() }
        guard let target = table.characteristic(write.uuid) else { return completion(.missing(write.uuid)) }
        client.write(write.value, to: target.value) { [weak self] result in
            self?.proceed(result) { visit, _ in
                visit.report.show(
                    WriteDocument(write, visit.device),
                    as: "wrote \(count(write.value.count, "octet")) to \(nameOf(write.uuid))"
                )
                visit.readBack(target)
            }
        }
    }

    private func readBack(_ target: DiscoveredCharacteristic) {
        guard target.properties.contains(.read) else { return awaitChange() }
        client.read(target.value) { [weak self] result in
            self?.proceed(result) { visit, value in
                visit.report.show(
                    ValueDocument(value, of: target.uuid, visit.device),
                    as: "read back \(nameOf(target.uuid)): \(shown(value, of: target.uuid, raw: visit.plan.isRaw))"
                )
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
                visit.report.say("waiting for the services to change")
            }
        }
    }

    private func changed(_ handles: ClosedRange<UInt16>) {
        client.onServiceChanged = nil
        report.say("services changed from \(hex(handles.lowerBound)) to \(hex(handles.upperBound))")
        let walk = TableWalk(client, for: device, isRaw: plan.isRaw) { [weak self] result in
            self?.proceed(result) { visit, table in
                visit.table = table
                visit.report.show(table.listing, as: table.listing.lines)
                visit.follow()
            }
        }
        self.walk = walk
        walk.begin()
    }

    // MARK: Following a value

    private func follow() {
        guard plan.notifications > 0 else { return completion(.done) }
        let listed: AttributeListing.Characteristic?
        do throws(ToolError) {
            listed = try table.listing.toFollow(plan.follow, of: device.name ?? "the device")
        } catch {
            return completion(.unclear(error))
        }
        guard let listed, let followed = table.characteristics[listed.handle] else { return completion(.done) }
        guard listed.canNotify else {
            return completion(.unclear(.incomplete(table.listing.doesNotNotify(listed.uuid))))
        }
        client.onValue = { [weak self] handle, value, _ in self?.valueArrived(handle, value, followed) }
        client.setNotifying(true, followed) { [weak self] result in
            // Such a peer may send values all the same (behaviour 4.21).
            if case .failure(let error) = result, error.lacksConfiguration {
                self?.report.say("\(nameOf(followed.uuid)) has no client configuration; following what is sent without")
                return
            }
            if case .failure(let error) = result, let response = error.response {
                self?.report.say("cannot follow \(nameOf(followed.uuid)): \(response.code)")
                self?.completion(.done)
                return
            }
            self?.proceed(result) { visit, _ in visit.report.say("following \(nameOf(followed.uuid))") }
        }
    }

    private func valueArrived(_ handle: UInt16, _ value: PacketBuffer, _ followed: DiscoveredCharacteristic) {
        guard handle == followed.value, left > 0 else { return }
        report.show(
            ValueDocument(value, of: followed.uuid, device),
            as: "value of \(nameOf(followed.uuid)): \(shown(value, of: followed.uuid, raw: plan.isRaw))"
        )
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

    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let uuid = typedUUID(parts[0]), let value = try? typedValue(parts[1]) else {
            return nil
        }
        self.uuid = uuid
        self.value = PacketBuffer(copying: value)
    }
}

extension WriteDocument {
    /// A write that the peer has confirmed.
    init(_ write: ValueToWrite, _ device: DeviceDocument) {
        self.init(
            device: device,
            characteristic: UUIDDocument(write.uuid),
            octets: write.value.count,
            isConfirmed: true
        )
    }
}
