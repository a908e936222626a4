// swift-tools-version: 6.0
import PackageDescription

// Apple systems have Core Bluetooth; elsewhere it comes from Harald.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = [.product(name: "CoreBluetooth", package: "harald-bluetooth")]
#endif

let package = Package(
    name: "DistanceMeter",
    platforms: [.iOS("27.0")],
    products: [.executable(name: "distance-meter", targets: ["distance-meter"])],
    dependencies: packages,
    targets: [
        .target(name: "DistanceMeter", dependencies: bluetooth),
        .executableTarget(name: "distance-meter", dependencies: ["DistanceMeter"] + bluetooth),
    ]
)
