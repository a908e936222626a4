// swift-tools-version: 5.9
import PackageDescription

// A package as one is written for Apple's systems, which knows nothing of Linux and of Harald.
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
