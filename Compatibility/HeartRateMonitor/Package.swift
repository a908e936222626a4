// swift-tools-version: 5.9
import PackageDescription

// A package as written for Apple's systems, without any support for Linux or Harald.
let package = Package(
    name: "HeartRateMonitor",
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [.library(name: "HeartRateKit", targets: ["HeartRateKit"])],
    targets: [
        .target(name: "HeartRateKit"),
        .executableTarget(name: "heart-rate", dependencies: ["HeartRateKit"]),
        .testTarget(name: "HeartRateKitTests", dependencies: ["HeartRateKit"]),
    ]
)
