// swift-tools-version: 6.2
import PackageDescription

// Core Bluetooth and the stand-ins in one dynamic library, and CryptoKit in another, which `harald swift` provides to
// packages that were written for Apple's systems. README.md describes the contents.

/// The modules that get other names in a wrapped package. It may have modules with these names itself, and `Security`
/// is one of Apple's, which it may test with `canImport`. SwiftPM does not propagate aliases to packages that import a
/// module of a third package, so swift-log and other dependencies keep their names.
let rooms = [
    "ATT", "BluetoothService", "BluetoothTypes", "Cryptography", "EventLoops", "GAP", "GATT", "HCI", "HCIHost",
    "HCITransports", "L2CAP", "SMP", "Security", "ServiceProcess",
]
let aliases = Dictionary(uniqueKeysWithValues: rooms.map { ($0, "Harald\($0)") })

/// The identity of a package that is referred to by path: the last component of the path.
let home = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "harald")

let package = Package(
    name: "harald-compatibility",
    products: [
        .library(
            name: "HaraldCompatibility",
            type: .dynamic,
            targets: ["HaraldCompatibility", "FoundationCombine"]
        ),
        // Apart, because swift-crypto compiles a copy of BoringSSL, which nothing else needs.
        .library(name: "HaraldCryptoKit", type: .dynamic, targets: ["CryptoKit"]),
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
        .target(
            name: "FoundationCombine",
            dependencies: [
                .product(name: "CoreBluetooth", package: home, moduleAliases: aliases),
                .product(name: "StandIns", package: "StandIns"),
            ]
        ),
        .target(
            name: "CryptoKit",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
