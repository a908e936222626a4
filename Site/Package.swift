// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody fetches the plugin to build Harald. From the root of the repository:
//     swift package --package-path Site generate-documentation --target CoreBluetooth
//     swift package --package-path Site --disable-sandbox preview-documentation --target BluetoothSimulation
// It builds Harald once more, and shows one module, without guides. Site/build reuses a build and shows all of them.
let package = Package(
    name: "harald-site",
    dependencies: [
        .package(name: "harald", path: ".."),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        .target(
            name: "Documented",
            dependencies: [
                "CoreBluetooth", "CoreBluetoothExtras", "BluetoothSimulation", "Accessories", "BluetoothTesting",
                "BluetoothService",
            ]
            .map { .product(name: $0, package: "harald") },
            path: "Documented"
        )
    ]
)
