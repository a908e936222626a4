// swift-tools-version: 6.2
import PackageDescription

let products = ["CoreBluetooth", "ActivityKit", "CoreBluetoothExtras", "BluetoothTesting"]
let harald: [Target.Dependency] = products.map {
    let isLinux = TargetDependencyCondition.when(platforms: [.linux])
    return .product(name: $0, package: "harald", condition: isLinux)
}
let package = Package(
    name: "Finder",
    dependencies: [.package(path: "../harald", traits: [])],
    targets: [
        .target(name: "Finder", dependencies: harald),
        .testTarget(name: "FinderTests", dependencies: ["Finder"] + harald),
    ]
)
