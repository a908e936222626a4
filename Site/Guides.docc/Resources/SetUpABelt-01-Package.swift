// swift-tools-version: 6.2
import PackageDescription

let products = ["CoreBluetooth", "AccessorySetupKit", "CoreBluetoothExtras", "BluetoothSimulation"]
let harald: [Target.Dependency] = products.map {
    let isLinux = TargetDependencyCondition.when(platforms: [.linux])
    return .product(name: $0, package: "harald", condition: isLinux)
}
let package = Package(
    name: "Belts",
    dependencies: [.package(path: "../harald", traits: [])],
    targets: [
        .target(name: "Belts", dependencies: harald),
        .testTarget(name: "BeltsTests", dependencies: ["Belts"] + harald),
    ]
)
