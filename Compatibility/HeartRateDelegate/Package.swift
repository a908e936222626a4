// swift-tools-version: 5.9
import PackageDescription

// A package as written for Apple's systems, in the way of Objective-C: optional requirements, selectors, key-value
// observing. `harald swift --adapt` builds it for Linux.
let package = Package(
    name: "HeartRateDelegate",
    platforms: [.iOS(.v13), .macOS(.v10_15)],
    products: [.library(name: "HeartRateDelegate", targets: ["HeartRateDelegate"])],
    dependencies: [.package(path: "../HeartRateFormats")],
    targets: [
        .target(name: "HeartRateDelegate", dependencies: ["HeartRateFormats"]),
        .testTarget(name: "HeartRateDelegateTests", dependencies: ["HeartRateDelegate"]),
    ]
)
