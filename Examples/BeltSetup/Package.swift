// swift-tools-version: 6.0
import PackageDescription

// Apple systems have both frameworks; elsewhere they come from Harald.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = ["AccessorySetupKit", "CoreBluetooth"].map {
        .product(name: $0, package: "harald-bluetooth")
    }
#endif

let package = Package(
    name: "BeltSetup",
    platforms: [.iOS(.v18)],
    products: [.executable(name: "belt-setup", targets: ["belt-setup"])],
    dependencies: packages,
    targets: [
        .target(name: "BeltSetup", dependencies: bluetooth),
        .executableTarget(name: "belt-setup", dependencies: ["BeltSetup"] + bluetooth),
    ]
)
