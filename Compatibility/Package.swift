// swift-tools-version: 6.2
import PackageDescription

// What `harald swift` gives to a package that was written for Apple's systems: Core Bluetooth and the stand-ins, in one
// dynamic library. README.md says what is in them.

/// A wrapped package may have modules of these names itself, and `Security` is one of Apple's, for which it asks with
/// `canImport`. So our rooms go by other names there. SwiftPM does not carry other names to those that import a module
/// from a third package, so swift-log and its like keep theirs.
let rooms = [
    "ATT", "BluetoothService", "BluetoothTypes", "Bonds", "Cryptography", "EmbeddedService", "EventLoops", "GAP",
    "GATT", "HCI", "HCIHost", "HCITransports", "L2CAP", "Privacy", "SMP", "Security", "ServiceProcess",
    "ServiceSocket",
]
let aliases = Dictionary(uniqueKeysWithValues: rooms.map { ($0, "Harald\($0)") })

/// A package that is named by its path goes by the last part of it.
let home = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "harald")

let package = Package(
    name: "harald-compatibility",
    products: [
        .library(
            name: "HaraldCompatibility",
            type: .dynamic,
            targets: ["HaraldCompatibility", "FoundationCombine", "CryptoKit"]
        )
    ],
    dependencies: [
        .package(path: ".."),
        .package(path: "StandIns"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: [
        .target(
            name: "HaraldCompatibility",
            dependencies: [
                .product(name: "CoreBluetooth", package: home, moduleAliases: aliases),
                .product(name: "StandIns", package: "StandIns"),
            ]
        ),
        .target(name: "FoundationCombine", dependencies: [.product(name: "StandIns", package: "StandIns")]),
        .target(
            name: "CryptoKit",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
