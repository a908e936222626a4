// swift-tools-version: 6.2
import PackageDescription

// Apple systems have Core Bluetooth; elsewhere it comes from Harald. The tests run in simulated worlds, on Linux only.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
    let testing: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = [.product(name: "CoreBluetooth", package: "harald-bluetooth")]
    let testing: [Target.Dependency] = [
        .product(name: "Accessories", package: "harald-bluetooth"),
        .product(name: "BluetoothTesting", package: "harald-bluetooth"),
    ]
#endif

let package = Package(
    name: "BestPractices",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "BestPractices", targets: ["BestPractices"])],
    dependencies: packages,
    targets: [
        .target(name: "BestPractices", dependencies: bluetooth),
        .testTarget(name: "BestPracticesTests", dependencies: ["BestPractices"] + bluetooth + testing),
    ]
)
