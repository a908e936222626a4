// swift-tools-version: 5.9
import PackageDescription

// A dependency with Objective-C's attributes, which `--adapt` adapts too.
let package = Package(
    name: "HeartRateFormats",
    products: [.library(name: "HeartRateFormats", targets: ["HeartRateFormats"])],
    targets: [.target(name: "HeartRateFormats")]
)
