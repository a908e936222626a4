// swift-tools-version: 6.2
import PackageDescription

let products = ["CoreBluetooth", "CoreBluetoothExtras", "BluetoothSimulation"]
let harald: [Target.Dependency] = products.map {
    let isLinux = TargetDependencyCondition.when(platforms: [.linux])
    return .product(name: $0, package: "harald", condition: isLinux)
}
let package = Package(
    name: "Heart",
    dependencies: [.package(path: "../harald", traits: [])],
    targets: [
        .target(name: "Heart", dependencies: harald),
        .testTarget(name: "HeartTests", dependencies: ["Heart"] + harald),
    ]
)
