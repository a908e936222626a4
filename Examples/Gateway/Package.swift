// swift-tools-version: 6.2
import PackageDescription

// For Linux: the libraries are Debian's libmosquitto-dev and libsqlite3-dev.
let harald = "harald-bluetooth"

let package = Package(
    name: "Gateway",
    dependencies: [.package(name: "harald-bluetooth", path: "../..")],
    targets: [
        .systemLibrary(name: "CMosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SensorRecords"),
        .target(name: "GatewayStore", dependencies: ["CSQLite", "SensorRecords"]),
        .executableTarget(
            name: "gateway",
            dependencies: [
                "CMosquitto", "GatewayStore", "SensorRecords",
                .product(name: "CoreBluetooth", package: harald),
                .product(name: "CoreBluetoothExtras", package: harald),
            ]
        ),
        .executableTarget(
            name: "sensor",
            dependencies: ["SensorRecords", .product(name: "CoreBluetooth", package: harald)]
        ),
        .testTarget(name: "GatewayStoreTests", dependencies: ["GatewayStore", "SensorRecords"]),
    ]
)
