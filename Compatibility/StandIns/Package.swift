// swift-tools-version: 6.2
import PackageDescription

// Stand-ins for Apple's frameworks that do not depend on Harald.
let package = Package(
    name: "StandIns",
    products: [.library(name: "StandIns", targets: ["Combine", "os", "OSLog"])],
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")],
    targets: [
        .target(
            name: "Combine",
            dependencies: [
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
                .product(name: "OpenCombineFoundation", package: "OpenCombine"),
            ]
        ),
        .target(name: "COSLog"),
        .target(name: "os", dependencies: ["COSLog"]),
        .target(name: "OSLog", dependencies: ["os"]),
        .testTarget(name: "CombineTests", dependencies: ["Combine"], swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(name: "osTests", dependencies: ["os"]),
    ],
    swiftLanguageModes: [.v6]
)
