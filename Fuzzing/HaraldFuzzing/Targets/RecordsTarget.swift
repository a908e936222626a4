import BluetoothService
import BluetoothTypes
import EventLoops
import ServiceMessages

@testable import Security

extension FuzzTarget {
    /// Records of apps, of the user's decisions, of names, of tables and of accessories: their content without the
    /// seal, which would reject nearly all changes, and the sealed file that contains them.
    static let records = FuzzTarget(
        "records",
        maximumLength: 2_000,
        seeds: [app.encoded().bytes, permissions.encoded().bytes]
            + [
                NameRecord().encoded().bytes, TableRecord().encoded().bytes, AccessoryRecord().encoded().bytes,
                file.encode(app.encoded(), secret).bytes,
            ]
    ) { input in
        check(AppRecord.self, input)
        check(PermissionRecord.self, input)
        check(NameRecord.self, input)
        check(TableRecord.self, input)
        check(AccessoryRecord.self, input)
        let decode = { (octets: PacketBuffer) throws -> PacketBuffer in try file.decode(octets, secret) }
        if let content = Codec.read(input, decode) {
            Codec.survives(content, encode: { file.encode($0, secret) }, decode: decode)
        }
    }

    private static func check<Record: PacketFields & Equatable>(_ type: Record.Type, _ input: FuzzInput) {
        let decode = { (octets: PacketBuffer) throws -> Record in try Record(reading: octets) }
        if let record = Codec.read(input, decode) { Codec.check(record, decode: decode) }
    }

    private static let secret = HostSecret(random: RandomSource(seed: 4), predecessor: nil)
    private static let file = SealedFile(
        mark: Array("HARALDRC".utf8),
        version: 1,
        maximumSize: 1 << 20,
        purpose: "record app-00",
        content: "records"
    )

    private static let permissions = PermissionRecord([
        AppIdentity(name: "a"): AppDecision(.denied),
        AppIdentity(name: "a", owner: 1_000): AppDecision(.allowedAlways, executable: "/bin/a"),
    ])

    /// An app with a manager of each role.
    private static var app: AppRecord {
        let service = LocalService(id: LocalAttributeID(1), uuid: 0x180D, isPrimary: true)
        let central = ManagerRecord(
            role: .central,
            options: ManagerOptions(showsPowerAlert: true, restoreIdentifier: "one"),
            intent: Intent([
                .central(.startScan(ScanRequest(services: [0x180D]))),
                .central(.peer(PeerInfo().identifier, .connect(ConnectOptions()))),
            ])
        )
        let peripheral = ManagerRecord(
            role: .peripheral,
            options: ManagerOptions(showsPowerAlert: false, restoreIdentifier: "two"),
            intent: Intent([.peripheral(.addService(service)), .peripheral(.startAdvertising(AdvertisingRequest()))])
        )
        let identity = AppIdentity(name: "com.example.app", owner: 1_000)
        return AppRecord(app: identity, declaration: AppDeclaration(), managers: [central, peripheral])
    }
}
