// swift-tools-version: 6.0
import PackageDescription

// Apple systems have both frameworks; elsewhere they come from Harald.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = ["ActivityKit", "CoreBluetooth"].map {
        .product(name: $0, package: "harald-bluetooth")
    }
#endif

let package = Package(
    name: "NearbyDevices",
    platforms: [.iOS("16.2")],
    products: [.executable(name: "nearby-devices", targets: ["nearby-devices"])],
    dependencies: packages,
    targets: [
        .target(name: "NearbyDevices", dependencies: bluetooth),
        .executableTarget(name: "nearby-devices", dependencies: ["NearbyDevices"] + bluetooth),
    ]
)
