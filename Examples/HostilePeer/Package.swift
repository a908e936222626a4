// swift-tools-version: 6.2
import PackageDescription

// The peer runs on Apple's systems too. The tests run in simulated worlds, on Linux only.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
    let testing: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = [.product(name: "CoreBluetooth", package: "harald-bluetooth")]
    let testing: [Target.Dependency] = [.product(name: "BluetoothTesting", package: "harald-bluetooth")]
#endif

let package = Package(
    name: "HostilePeer",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(path: "../TestedApp")] + packages,
    targets: [
        .target(name: "HostilePeer", dependencies: bluetooth),
        .testTarget(
            name: "HostilePeerTests",
            dependencies: ["HostilePeer", .product(name: "TestedApp", package: "TestedApp")] + bluetooth + testing
        ),
    ]
)
