// swift-tools-version: 6.0
import PackageDescription

// Apple systems have Core Bluetooth; elsewhere it comes from Harald.
#if canImport(Darwin)
    let packages: [Package.Dependency] = []
    let bluetooth: [Target.Dependency] = []
#else
    let packages: [Package.Dependency] = [.package(name: "harald-bluetooth", path: "../..")]
    let bluetooth: [Target.Dependency] = [.product(name: "CoreBluetooth", package: "harald-bluetooth")]
#endif

let package = Package(
    name: "FileTransfer",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.executable(name: "file-transfer", targets: ["file-transfer"])],
    dependencies: packages,
    targets: [
        .target(name: "FileTransfer", dependencies: bluetooth),
        .executableTarget(name: "file-transfer", dependencies: ["FileTransfer"] + bluetooth),
    ]
)
