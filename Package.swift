// swift-tools-version: 6.2
import PackageDescription

// Checks build with warnings as errors. Packages that depend on this one do not.
let isStrict = Context.environment["HARALD_STRICT"] != nil

// The modules, from the bottom up. Dependencies point down; ARCHITECTURE.md has the picture.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: isStrict ? .error : .warning),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.init(stringLiteral: name)] + dependencies,
        exclude: exclude,
        swiftSettings: settings
    )
}

/// An app of Examples, which is a package of its own besides: what it does, and the program around it.
func example(_ folder: String, _ library: String, _ program: String) -> [Target] {
    let path = "Examples/\(folder)/Sources"
    return [
        .target(name: library, dependencies: ["CoreBluetooth"], path: "\(path)/\(library)", swiftSettings: settings),
        .executableTarget(
            name: program,
            dependencies: [.init(stringLiteral: library), "CoreBluetooth"],
            path: "\(path)/\(program)",
            swiftSettings: settings
        ),
    ]
}

let package = Package(
    name: "harald-bluetooth",
    products: [
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "CoreBluetoothExtras", targets: ["CoreBluetoothExtras"]),
        .library(name: "BluetoothSimulation", targets: ["BluetoothSimulation"]),
        // For tests: it links Swift Testing and XCTest.
        .library(name: "BluetoothTesting", targets: ["BluetoothTesting"]),
        .library(name: "Accessories", targets: ["Accessories"]),
        // The service itself, and the messages between it and apps, for programs that use them without CoreBluetooth.
        .library(name: "BluetoothService", targets: ["BluetoothService", "ServiceMessages"]),
        .executable(name: "harald", targets: ["harald"]),
    ],
    traits: [
        .trait(name: "Controllers", description: "Apps outside of simulations find a controller, over sockets."),
        .trait(
            name: "SwiftCrypto",
            description: "Cryptography from swift-crypto, compiled in, instead of the system's OpenSSL 3."
        ),
        .default(enabledTraits: ["Controllers"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        module("BluetoothTypes"),
        // Files at paths that users name, or that others may control.
        module("HostFiles"),
        // Names and words for what tools and advice show.
        module("AssignedNumbers", ["BluetoothTypes"]),
        module(
            "EventLoops",
            [
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]
        ),
        module(
            "Cryptography",
            [
                "BluetoothTypes", "CLibcrypto",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["SwiftCrypto"])),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["SwiftCrypto"])),
            ]
        ),
        // The places in apps that make calls.
        module("CallSites", ["CLinux"]),
        module("Radio", ["EventLoops"]),
        module(
            "HCI",
            ["BluetoothTypes", "EventLoops", "HostFiles", .product(name: "DequeModule", package: "swift-collections")]
        ),
        module(
            "HCIFraming",
            ["BluetoothTypes", "EventLoops", "HCI", .product(name: "DequeModule", package: "swift-collections")]
        ),
        // A controller that plays back the capture of another one.
        module(
            "CapturePlayback",
            [
                "BluetoothTypes", "EventLoops", "HCI", "HostFiles",
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        module(
            "HCIHost",
            [
                "BluetoothTypes", "EventLoops", "HCI",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        module(
            "LinkLayer",
            [
                "BluetoothTypes", "Cryptography", "EventLoops", "HCI", "Radio",
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        module(
            "HCITransports",
            [
                "BluetoothTypes", "CLinux", "CUSB", "CapturePlayback", "EventLoops", "HCI", "HCIFraming",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        module(
            "L2CAP",
            [
                "BluetoothTypes", "EventLoops", "HCI", "HCIHost",
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        module(
            "ATT",
            ["BluetoothTypes", "EventLoops", "L2CAP", .product(name: "DequeModule", package: "swift-collections")]
        ),
        module(
            "GATT",
            [
                "BluetoothTypes", "Cryptography", "EventLoops", "L2CAP", "ATT",
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        module("SMP", ["BluetoothTypes", "Cryptography", "EventLoops", "L2CAP"]),
        module("Bonds", ["BluetoothTypes", "Cryptography", "EventLoops", "GATT", "SMP"]),
        module(
            "Privacy",
            [
                "BluetoothTypes", "Bonds", "Cryptography", "EventLoops", "HCI", "HCIHost", "SMP",
            ]
        ),
        module(
            "Security",
            [
                "BluetoothTypes", "Bonds", "Cryptography", "EventLoops", "HCI", "HCIHost", "L2CAP", "ATT", "GATT",
                "Privacy", "SMP",
            ]
        ),
        module(
            "GAP",
            [
                "BluetoothTypes", "EventLoops", "HCI", "HCIHost", "L2CAP", "ATT", "GATT", "Privacy",
                "Security", "SMP", "Bonds",
            ]
        ),
        // What the service and its clients say to each other: values and time, nothing of the host stack.
        module("ServiceMessages", ["BluetoothTypes", "CallSites", "EventLoops"]),
        module(
            "BluetoothService",
            [
                "ServiceMessages", "BluetoothTypes", "Security", "Privacy", "Bonds", "Cryptography", "EventLoops",
                "HCI", "HCIHost",
                "L2CAP", "ATT", "CallSites", "GATT",
                "SMP", "GAP",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CLinux"),
        // `harald --version` prints them. Scripts/package sets them; a plain build does not, so that it never changes with
        // the commit alone.
        .target(
            name: "CVersion",
            cSettings: ["HARALD_COMMIT", "HARALD_COMPILER"].compactMap { name in
                Context.environment[name].map { .define(name, to: "\"\($0)\"") }
            }
        ),
        .target(
            name: "CLibcrypto",
            cSettings: isStrict ? [.define("HARALD_STRICT")] : [],
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]
        ),
        .target(
            name: "CLibedit",
            cSettings: isStrict ? [.define("HARALD_STRICT")] : [],
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]
        ),
        .target(name: "CUSB", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        module(
            "ServiceProcess",
            [
                "CLinux", "BluetoothTypes", "CallSites", "ServiceMessages", "BluetoothService", "EventLoops",
                "HostFiles",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        module(
            "ServiceSocket",
            [
                "CLinux", "BluetoothTypes", "ServiceMessages", "EventLoops", "HCITransports", "ServiceProcess",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // The page that shows a system in a browser: a tool of the service, and a web server on this machine.
        .target(
            name: "Page",
            dependencies: [
                "AssignedNumbers", "BluetoothService", "BluetoothTypes", "CaptureStory", "CoreBluetooth",
                "CoreBluetoothExtras", "EventLoops", "EventWords", "HCI", "HCITransports", "ServiceMessages",
                "ServiceProcess",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [
                "advice.js", "apps.js", "device.js", "devices.js", "elements.js", "energy.js", "events.js", "icon.svg",
                "index.html", "list.js", "model.js", "packets.js", "page.css", "page.js", "prompts.js", "rings.js",
                "verbs.js", "world.js", "worldmap.js",
            ].map { .embedInCode("Assets/\($0)") },
            swiftSettings: settings
        ),
        module(
            "EmbeddedService",
            [
                "AppAdvice", "BluetoothService", "CallSites", "CapturePlayback", "Cryptography", "EventLoops", "GAP",
                "HCI", "HCITransports", "HostFiles", "ServiceMessages", "ServiceProcess", "ServiceSocket",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        module("KernelLog"),
        module("Diagnosis", ["HCITransports", "KernelLog"]),
        .target(name: "CCoreBluetooth"),
        module(
            "CoreBluetooth",
            [
                "CCoreBluetooth", "BluetoothTypes", "CallSites", "ServiceMessages", "EventLoops",
                .product(name: "DequeModule", package: "swift-collections"),
                .target(name: "EmbeddedService", condition: .when(traits: ["Controllers"])),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        module(
            "CoreBluetoothExtras",
            ["BluetoothTypes", "ServiceMessages", "CoreBluetooth"]
        ),
        module(
            "BluetoothSimulation",
            [
                "BluetoothTypes", "Cryptography", "Security", "Privacy", "Bonds", "EventLoops", "HCI", "SMP", "GAP",
                "BluetoothService", "CapturePlayback",
                "ServiceMessages", "CoreBluetooth", "LinkLayer", "Radio",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CAppTime", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        module(
            "VirtualAppTime",
            ["CAppTime", "BluetoothSimulation", "CoreBluetooth", "EventLoops", "ServiceMessages"]
        ),
        // What apps should do better, as their messages show it.
        module(
            "AppAdvice",
            [
                "AssignedNumbers", "BluetoothService", "BluetoothTypes", "CallSites", "EventLoops", "L2CAP",
                "ServiceMessages",
            ]
        ),
        // What apps cost the battery of a device. Nothing that an app links uses it.
        module(
            "RadioEnergy",
            [
                "AppAdvice", "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "EventLoops", "HCI",
                "HostFiles", "LinkLayer", "Radio", "ServiceMessages",
            ]
        ),
        // What a capture tells: its story in words, and a copy of it without what is private.
        module(
            "CaptureStory",
            [
                "ATT", "AppAdvice", "AssignedNumbers", "BluetoothService", "BluetoothTypes", "Cryptography",
                "EventLoops", "HCI", "LinkLayer", "SMP", "ServiceMessages",
            ]
        ),
        // The words in which the tool and failed tests tell events.
        module("EventWords", ["AssignedNumbers", "BluetoothService", "BluetoothTypes"]),
        module(
            "BluetoothTesting",
            [
                "Accessories", "AppAdvice", "AssignedNumbers", "BluetoothService", "BluetoothSimulation",
                "BluetoothTypes", "CallSites", "CoreBluetooth", "EventLoops", "EventWords", "RadioEnergy",
                "ServiceMessages",
                "VirtualAppTime",
                .product(name: "DequeModule", package: "swift-collections"),
            ]
        ),
        module(
            "Accessories",
            [
                "AssignedNumbers", "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "CoreBluetooth",
                "HostFiles", "Privacy", "SMP", "ServiceMessages",
            ]
        ),
        // Thousands of advertisers, as a model of contention on the primary channels.
        module("Crowd", ["BluetoothTypes", "EventLoops", "LinkLayer", "ServiceMessages"]),
        module("SourceChecks"),
        module(
            "Demos",
            [
                "AssignedNumbers", "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "CoreBluetooth",
                "EventLoops", "ServiceMessages",
            ]
        ),
        // The world that the page controls: a sensor and a phone with an app, and the test of what was done.
        .target(
            name: "LiveWorld",
            dependencies: [
                "Accessories", "AppAdvice", "AssignedNumbers", "BluetoothService", "BluetoothSimulation",
                "BluetoothTypes", "CoreBluetooth", "EventLoops", "EventWords", "RadioEnergy", "ServiceMessages",
                "ServiceProcess",
            ],
            resources: [.embedInCode("Assets/HeartRateWatch.txt")],
            swiftSettings: settings
        ),
        module("PackageWrapping", ["Cryptography", "HostFiles", "SourceChecks"]),
        // Without "harald" and what only it needs, so that a newcomer waits less for the first demo.
        .executableTarget(name: "harald-demo", dependencies: ["Demos", "EventLoops"], swiftSettings: settings),
        .executableTarget(
            name: "harald",
            dependencies: [
                "Accessories", "AppAdvice", "AssignedNumbers", "CLibedit", "CLinux", "CVersion", "Crowd", "Demos",
                "EventWords",
                "PackageWrapping",
                "SourceChecks",
                "CapturePlayback", "CaptureStory", "Diagnosis",
                "BluetoothTypes", "Security", "Privacy", "EventLoops", "Radio", "RadioEnergy",
                "HCI",
                "HCIFraming",
                "HCIHost",
                "HCITransports", "HostFiles",
                "LinkLayer", "L2CAP", "ATT",
                "GATT", "LiveWorld", "Page",
                "Cryptography", "SMP", "Bonds", "GAP", "BluetoothService", "ServiceMessages", "ServiceProcess",
                "ServiceSocket",
                "CoreBluetooth", "CoreBluetoothExtras", "EmbeddedService",
                "BluetoothSimulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        .executableTarget(
            name: "HaraldBenchmarks",
            dependencies: [
                "AppAdvice", "CAllocations", "CLinux", "BluetoothTypes", "CaptureStory", "Cryptography", "EventLoops",
                "Radio", "HCI", "HCIFraming",
                "HCIHost", "HCITransports", "LinkLayer", "L2CAP",
                "ATT", "GATT", "BluetoothService", "ServiceMessages", "ServiceProcess", "ServiceSocket",
                "CoreBluetooth",
                "CoreBluetoothExtras",
                "BluetoothSimulation",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/HaraldBenchmarks",
            swiftSettings: settings
        ),
        tests(
            "Accessories",
            ["BluetoothSimulation", "BluetoothTypes", "CoreBluetooth", "TestBasics"]
        ),
        tests("CallSites", ["CLinux"]),
        tests(
            "AppAdvice",
            [
                "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "CallSites", "L2CAP", "CoreBluetooth",
                "EventLoops",
                "ServiceMessages", "TestBasics",
            ]
        ),
        tests(
            "RadioEnergy",
            ["EventLoops", "HCI", "LinkLayer", "Radio", "BluetoothService", "ServiceMessages"]
        ),
        tests(
            "BluetoothSimulation",
            [
                "ATT", "BluetoothService", "BluetoothTesting", "BluetoothTypes", "Security", "Bonds", "CoreBluetooth",
                "CoreBluetoothExtras", "Demos", "EventLoops", "GAP", "GATT", "HCI", "HCIHost", "Privacy", "Radio",
                "SMP",
                "ServiceMessages", "TestBasics",
            ]
        ),
        .testTarget(
            name: "HaraldTests",
            dependencies: [
                "Accessories", "AssignedNumbers", "BluetoothService", "BluetoothSimulation", "BluetoothTypes",
                "CaptureStory", "CoreBluetooth",
                "Crowd", "Demos", "Diagnosis",
                "EventLoops", "EventWords", "GAP", "HCI", "HCIHost", "HCITransports", "HostFiles",
                "PackageWrapping", "Radio", "SMP", "Security",
                "ServiceMessages", "TestBasics", "harald",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Explained.txt"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "QuirkTests",
            dependencies: [
                "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "CoreBluetooth", "EventLoops", "GAP",
                "HCI",
                "HCIHost", "LinkLayer", "Radio", "ServiceMessages",
            ],
            swiftSettings: settings
        ),
        tests(
            "BluetoothTesting",
            [
                "Accessories", "BluetoothService", "BluetoothSimulation", "BluetoothTypes", "CoreBluetooth",
                "ServiceMessages", "TestBasics", "VirtualAppTime",
            ]
        ),
        tests("CapturePlayback", ["BluetoothTypes", "EventLoops", "HCI"]),
        tests(
            "CaptureStory",
            ["ATT", "AppAdvice", "BluetoothTypes", "Cryptography", "EventLoops", "HCI", "LinkLayer", "SMP"]
        ),
        tests("AssignedNumbers", ["BluetoothTypes"]),
        tests("BluetoothTypes", ["EventLoops"]),
        tests("EventLoops", ["TestBasics"]),
        tests(
            "Page",
            [
                "BluetoothService", "BluetoothTypes", "CoreBluetoothExtras", "EventLoops", "HCI", "HCITransports",
                "ServiceMessages", "ServiceProcess",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        tests("VirtualAppTime", ["BluetoothSimulation", "CoreBluetooth"]),
        tests(
            "LiveWorld",
            [
                "Accessories", "BluetoothService", "BluetoothSimulation", "BluetoothTesting", "CoreBluetooth",
                "EventLoops", "RadioEnergy", "ServiceMessages", "ServiceProcess",
            ]
        ),
        tests(
            "CoreBluetooth",
            [
                "BluetoothTypes", "BluetoothService", "CallSites", "EventLoops", "SampleMessages", "ServiceMessages",
                "ServiceStandIns", .product(name: "Logging", package: "swift-log"),
            ]
        ),
        tests(
            "CoreBluetoothExtras",
            [
                "BluetoothService", "BluetoothSimulation", "CoreBluetooth", "EventLoops", "Radio", "ServiceMessages",
                "ServiceStandIns", "TestBasics",
            ]
        ),
        // An app that is compiled as most still are.
        .testTarget(
            name: "CoreBluetoothSwift5Tests",
            dependencies: ["CoreBluetooth"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        tests(
            "EmbeddedService",
            [
                "BluetoothService", "BluetoothTypes", "EventLoops", "HCI", "HCITransports", "SampleMessages",
                "ServiceMessages", "StandInKernel", "TestBasics", .product(name: "Logging", package: "swift-log"),
            ]
        ),
        tests(
            "ServiceSocket",
            [
                "AppAdvice", "CallSites", "CLinux", "BluetoothService", "BluetoothSimulation", "BluetoothTypes",
                "Bonds",
                "CoreBluetooth", "EventLoops", "GAP", "HCIHost", "HCITransports", "HostileClients", "Radio",
                "SampleMessages",
                "ServiceMessages", "ServiceProcess", "TestBasics", "HostFiles",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        tests(
            "GAP",
            [
                "BluetoothTypes", "Security", "Privacy", "Cryptography", "EventLoops", "HCI", "HCIHost", "L2CAP", "ATT",
                "GATT", "SMP",
                "Bonds", "ControllerStandIns", "LinkLayer", "Radio", "StackStandIns",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        tests(
            "Privacy",
            [
                "BluetoothTypes", "Bonds", "ControllerStandIns", "Cryptography", "EventLoops", "HCI", "HCIHost", "SMP",
                "StackStandIns",
            ]
        ),
        tests(
            "Security",
            [
                "BluetoothTypes", "Bonds", "ControllerStandIns", "Cryptography", "EventLoops", "HCI", "HCIHost",
                "L2CAP", "ATT", "GATT",
                "Privacy", "SMP", "StackStandIns", "StateExplorer",
            ]
        ),
        tests(
            "BluetoothService",
            [
                "BluetoothSimulation", "BluetoothTesting", "BluetoothTypes", "L2CAP", "Bonds", "Cryptography",
                "EventLoops", "GAP", "GATT", "HCI", "HCIHost",
                "ATT",
                "LinkLayer", "Privacy", "Radio", "RadioEnergy", "Security", "SMP", "SampleMessages", "ServiceMessages",
                "StateExplorer", "TestBasics",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // A breadth-first search of the states of machines.
        .target(name: "StateExplorer", path: "Tests/StateExplorer", swiftSettings: settings),
        // What tests of several modules use, and what is independent of Bluetooth.
        .target(name: "TestBasics", dependencies: ["EventLoops"], path: "Tests/TestBasics", swiftSettings: settings),
        .target(
            name: "SampleMessages",
            dependencies: [
                "BluetoothService", "BluetoothTypes", "ServiceMessages",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/SampleMessages",
            swiftSettings: settings
        ),
        // What a hostile process does, for the tests in virtual time and for Scripts/soak.
        .target(
            name: "HostileClients",
            dependencies: ["ServiceMessages", "BluetoothTypes", "EventLoops"],
            path: "Tests/HostileClients",
            swiftSettings: settings
        ),
        .target(
            name: "RandomPackets",
            dependencies: ["BluetoothTypes", "EventLoops"],
            path: "Tests/RandomPackets",
            swiftSettings: settings
        ),
        // A controller with scripted answers, and a host on it.
        .target(
            name: "ControllerStandIns",
            dependencies: ["BluetoothTypes", "EventLoops", "HCI", "HCIHost"],
            path: "Tests/ControllerStandIns",
            swiftSettings: settings
        ),
        // A service that only records requests, for tests of what apps import.
        .target(
            name: "ServiceStandIns",
            dependencies: ["CoreBluetooth", "EventLoops", "ServiceMessages"],
            path: "Tests/ServiceStandIns",
            swiftSettings: settings
        ),
        .target(
            name: "LoopbackLinks",
            dependencies: ["BluetoothTypes", "EventLoops", "HCI", "HCIHost"],
            path: "Tests/LoopbackLinks",
            swiftSettings: settings
        ),
        .target(
            name: "StandInKernel",
            dependencies: ["CLinux", "HCITransports"],
            path: "Tests/StandInKernel",
            swiftSettings: settings
        ),
        .target(
            name: "StandInUSB",
            dependencies: ["HCITransports"],
            path: "Tests/StandInUSB",
            swiftSettings: settings
        ),
        .target(
            name: "StackStandIns",
            dependencies: [
                "BluetoothTypes", "Bonds", "ControllerStandIns", "Cryptography", "EventLoops", "HCI", "HCIHost",
                "L2CAP",
                "Security", "SMP",
            ],
            path: "Tests/StackStandIns",
            swiftSettings: settings
        ),
        tests("L2CAP", ["BluetoothTypes", "EventLoops", "HCI", "LoopbackLinks", "StateExplorer"]),
        tests("ATT", ["BluetoothTypes", "EventLoops", "L2CAP", "LoopbackLinks", "StateExplorer"]),
        tests(
            "GATT",
            ["ATT", "BluetoothTypes", "Cryptography", "EventLoops", "L2CAP", "LoopbackLinks", "SMP"]
        ),
        tests(
            "SMP",
            ["BluetoothTypes", "Cryptography", "EventLoops", "L2CAP", "LoopbackLinks", "StateExplorer"]
        ),
        // Apps as processes, for the tests in Interop/.
        .executableTarget(
            name: "interop-app",
            dependencies: [
                "BluetoothService", "BluetoothTypes", "CoreBluetooth", "CoreBluetoothExtras", "EventLoops",
                "HostileClients", "ServiceMessages",
                "ServiceProcess",
            ],
            path: "Tests/InteropApp",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "BondKillPoints",
            dependencies: ["BluetoothTypes", "Cryptography", "EventLoops", "GATT", "SMP", "Bonds"],
            path: "Tests/BondKillPoints",
            swiftSettings: settings
        ),
        tests(
            "Bonds",
            ["BluetoothTypes", "Cryptography", "EventLoops", "GATT", "SMP", "BondKillPoints", "TestBasics"]
        ),
        tests("Cryptography", ["BluetoothTypes", "EventLoops"], exclude: ["Vectors.txt"]),
        tests("Crowd", ["BluetoothTypes", "EventLoops", "LinkLayer"]),
        tests("SourceChecks"),
        tests("HostFiles", ["TestBasics"]),
        tests("PackageWrapping", ["TestBasics"]),
        tests("Diagnosis", ["HCITransports", "KernelLog", "StandInKernel", "TestBasics"]),
        tests("Radio", ["EventLoops"]),
        tests(
            "LinkLayer",
            [
                "BluetoothTypes", "ControllerStandIns", "Crowd", "Cryptography", "EventLoops", "HCI", "HCIHost",
                "Radio", "RadioEnergy", "StateExplorer",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        tests(
            "HCI",
            ["BluetoothTypes", "EventLoops", "HostFiles", "RandomPackets", "TestBasics"]
        ),
        tests("HCIFraming", ["BluetoothTypes", "EventLoops", "HCI", "RandomPackets"]),
        tests(
            "HCIHost",
            ["BluetoothTypes", "ControllerStandIns", "EventLoops", "HCI", "RandomPackets"]
        ),
        tests(
            "HCITransports",
            [
                "BluetoothTypes", "EventLoops", "HCI", "HCIFraming", "StandInKernel", "StandInUSB", "TestBasics",
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

package.targets += example("HeartRate", "HeartRate", "heart-rate")
package.targets += example("FileTransfer", "FileTransfer", "file-transfer")
package.targets += example("TextTransfer", "TextTransfer", "text-transfer")
package.targets += example("Thermometer", "HealthThermometer", "thermometer")
package.targets.append(
    .testTarget(
        name: "ExamplesTests",
        dependencies: [
            "BluetoothSimulation", "BluetoothTesting", "CoreBluetooth", "FileTransfer", "HealthThermometer",
            "HeartRate",
            "Radio", "TestBasics", "TextTransfer",
        ],
        swiftSettings: settings
    )
)

// Fuzzing/run sets this, and has libFuzzer's flags on its command line: nobody who depends on the package meets either.
if Context.environment["HARALD_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "HaraldFuzzing",
            dependencies: [
                "BluetoothTypes", "Cryptography", "EventLoops", "Radio", "HCI", "HCIFraming", "HCIHost", "LinkLayer",
                "L2CAP", "ATT", "GATT", "SMP", "Bonds", "GAP", "Security", "BluetoothService", "ServiceMessages",
                "ServiceProcess",
                "Accessories", "AppAdvice", "AssignedNumbers", "CapturePlayback", "CaptureStory", "CoreBluetooth",
                "HCITransports", "KernelLog", "LoopbackLinks", "Page", "RadioEnergy",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Fuzzing/HaraldFuzzing",
            swiftSettings: settings
        )
    )
}

// Races/run sets this: what has threads or sockets is built once more, for ThreadSanitizer, and nothing else. The tests of
// BluetoothService run on the test's thread alone; its service meets threads in the tests of the modules above it.
if Context.environment["HARALD_RACES"] != nil {
    let watched = [
        "BluetoothSimulationTests", "BluetoothTestingTests", "CoreBluetoothTests",
        "CoreBluetoothExtrasTests", "CoreBluetoothSwift5Tests", "CryptographyTests", "EmbeddedServiceTests",
        "EventLoopsTests", "ExamplesTests",
        "HCITransportsTests",
        "ServiceSocketTests",
    ]
    package.targets.removeAll {
        $0.type == .test && !watched.contains($0.name) || ["BondKillPoints", "HaraldBenchmarks"].contains($0.name)
    }
}
