// swift-tools-version: 6.2
import PackageDescription

let products = ["CoreBluetooth", "BluetoothSimulation", "Accessories"]
let harald: [Target.Dependency] = products.map {
    let isLinux = TargetDependencyCondition.when(platforms: [.linux])
    return .product(name: $0, package: "harald", condition: isLinux)
}
let package = Package(
    name: "Meter",
    dependencies: [.package(path: "../harald", traits: [])],
    targets: [
        .target(name: "Meter", dependencies: harald),
        .testTarget(name: "MeterTests", dependencies: ["Meter"] + harald),
    ]
)
