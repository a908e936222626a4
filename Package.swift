// swift-tools-version: 6.2
import PackageDescription

// Checks build with warnings as errors. Packages that depend on this one do not.
let isStrict = Context.environment["HARALD_STRICT"] != nil
let isFuzzing = Context.environment["HARALD_FUZZING"] != nil
let isForRaces = Context.environment["HARALD_RACES"] != nil
// These builds compile each module at once. That takes a fifth less of CPU for all of it, and more after a change of one file.
let isWhole = isStrict || isFuzzing || isForRaces
let whole = [
    "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
]
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: isStrict ? .error : .warning),
    ] + (isWhole ? [.unsafeFlags(whole, .when(configuration: .debug))] : [])

// Simulations spend their time in these. Optimized, with all their assertions, they cost half a minute more of compiling, and
// the test suite takes half as long. Scripts/test sets this. Fuzzing runs too briefly for it, and ThreadSanitizer reports
// what the optimizer makes of empty arrays. No package with such flags can be depended on by version.
let isOptimized = (isStrict || Context.environment["HARALD_OPTIMIZED"] != nil) && !isFuzzing && !isForRaces
let optimized = isOptimized ? ["BluetoothTypes", "EventLoops", "Cryptography", "LinkLayer"] : []

// The package of each library that the modules use.
let packages = [
    "ArgumentParser": "swift-argument-parser", "CoreMetrics": "swift-metrics", "Crypto": "swift-crypto",
    "CryptoExtras": "swift-crypto", "DequeModule": "swift-collections", "HeapModule": "swift-collections",
    "Logging": "swift-log", "NIOCore": "swift-nio", "NIOEmbedded": "swift-nio", "NIOHTTP1": "swift-nio",
    "NIOPosix": "swift-nio", "NIOWebSocket": "swift-nio",
]

// The modules by floor, each below those that it uses, and with all that it may import. Each is a folder of
// Sources/FLOOR. Names like CLinux are modules in C, those in lower case are programs, and `A?B` is A, if the package is
// built with the trait B.
let floors: KeyValuePairs = [
    "Stack": """
    BluetoothTypes
    AssignedNumbers BluetoothTypes
    EventLoops DequeModule HeapModule
    CLinux
    CLibcrypto
    Cryptography BluetoothTypes CLibcrypto Crypto?SwiftCrypto CryptoExtras?SwiftCrypto
    HCI BluetoothTypes EventLoops DequeModule
    HCIHost BluetoothTypes EventLoops HCI DequeModule Logging
    L2CAP BluetoothTypes EventLoops HCI HCIHost DequeModule
    ATT BluetoothTypes EventLoops L2CAP DequeModule
    GATT BluetoothTypes Cryptography EventLoops L2CAP ATT DequeModule
    SMP BluetoothTypes Cryptography EventLoops L2CAP
    Security BluetoothTypes Cryptography EventLoops HCI HCIHost L2CAP ATT GATT SMP
    GAP BluetoothTypes EventLoops HCI HCIHost L2CAP ATT GATT SMP Security
    """,
    "Controllers": """
    LinkLayer BluetoothTypes Cryptography EventLoops HCI DequeModule
    CapturePlayback BluetoothTypes EventLoops HCI DequeModule
    CUSB
    HCITransports BluetoothTypes CLinux CUSB CapturePlayback EventLoops HCI DequeModule NIOCore NIOPosix
    """,
    "System": """
    ServiceMessages BluetoothTypes CLinux EventLoops
    ServiceEvents BluetoothTypes EventLoops HCI HCIHost ServiceMessages
    BluetoothService BluetoothTypes Cryptography EventLoops HCI HCIHost L2CAP ATT GATT SMP Security GAP \
        ServiceMessages ServiceEvents DequeModule Logging
    Administration BluetoothTypes EventLoops HCI HCIHost SMP Security ServiceMessages ServiceEvents BluetoothService
    AppAdvice AssignedNumbers BluetoothTypes EventLoops ServiceMessages ServiceEvents
    ServiceProcess BluetoothTypes CLinux Cryptography EventLoops HCI GAP HCITransports ServiceMessages \
        ServiceEvents BluetoothService Administration AppAdvice CoreMetrics Logging NIOCore NIOPosix
    """,
    "App": """
    CCoreBluetooth
    CoreBluetooth CCoreBluetooth BluetoothTypes EventLoops ServiceMessages ServiceProcess?Controllers \
        DequeModule Logging
    CoreBluetoothExtras BluetoothTypes ServiceMessages CoreBluetooth
    AccessorySetupKit BluetoothTypes ServiceMessages CoreBluetooth
    ActivityKit ServiceMessages CoreBluetooth
    """,
    "Stage": """
    BluetoothSimulation BluetoothTypes Cryptography EventLoops HCI SMP Security GAP LinkLayer \
        CapturePlayback ServiceMessages BluetoothService CoreBluetooth Logging
    Accessories BluetoothTypes AssignedNumbers SMP Security ServiceMessages BluetoothService CoreBluetooth \
        BluetoothSimulation
    RadioEnergy BluetoothTypes EventLoops HCI LinkLayer ServiceMessages ServiceEvents \
        BluetoothService AppAdvice BluetoothSimulation
    CAppTime
    BluetoothTesting BluetoothTypes AssignedNumbers EventLoops CAppTime ServiceMessages BluetoothService \
        Administration AppAdvice CoreBluetooth BluetoothSimulation Accessories RadioEnergy DequeModule
    Demos BluetoothTypes AssignedNumbers EventLoops ServiceMessages BluetoothService CoreBluetooth \
        BluetoothSimulation
    """,
    "Tools": """
    CaptureStory BluetoothTypes AssignedNumbers Cryptography EventLoops HCI L2CAP ATT SMP LinkLayer ServiceMessages \
        ServiceEvents AppAdvice
    Page BluetoothTypes AssignedNumbers EventLoops HCI ATT HCITransports ServiceMessages ServiceEvents \
        BluetoothService Administration AppAdvice ServiceProcess CoreBluetooth CoreBluetoothExtras BluetoothSimulation \
        Accessories RadioEnergy CaptureStory DequeModule NIOCore NIOHTTP1 NIOPosix NIOWebSocket
    CTool
    harald-demo EventLoops Demos
    harald CTool CLinux BluetoothTypes AssignedNumbers EventLoops Cryptography HCI HCIHost L2CAP ATT GATT SMP \
        Security GAP LinkLayer CapturePlayback HCITransports ServiceMessages ServiceEvents BluetoothService \
        Administration AppAdvice ServiceProcess CoreBluetooth CoreBluetoothExtras BluetoothSimulation Accessories \
        RadioEnergy Demos CaptureStory Page ArgumentParser DequeModule Logging
    """,
]

// What several test targets use, each a folder of Tests/Fixtures. It may import whatever those that it names use.
let fixtures = """
    StateExplorer
    TestBasics EventLoops
    RandomPackets BluetoothTypes EventLoops
    LoopbackLinks HCIHost
    ControllerStandIns HCIHost
    StackStandIns Security ControllerStandIns
    AccessStandIns GAP
    BondKillPoints Security
    StandInKernel HCITransports
    StandInUSB HCITransports
    SampleMessages BluetoothService
    HostileClients ServiceMessages
    ServiceStandIns CoreBluetooth
    AppStandIns CoreBluetooth
    interop-app ServiceProcess CoreBluetoothExtras HostileClients
    """

// The tests of each module, and what else they may import, with whatever that uses.
let tests = """
    BluetoothTypes TestBasics
    AssignedNumbers
    EventLoops TestBasics
    Cryptography EventLoops
    HCI RandomPackets TestBasics
    HCIHost ControllerStandIns RandomPackets
    L2CAP LoopbackLinks StateExplorer
    ATT LoopbackLinks StateExplorer
    GATT SMP LoopbackLinks
    SMP LoopbackLinks StateExplorer
    Security BondKillPoints StackStandIns StateExplorer TestBasics
    GAP LinkLayer AccessStandIns StackStandIns
    LinkLayer HCIHost RadioEnergy ControllerStandIns StateExplorer
    CapturePlayback
    HCITransports RandomPackets StandInKernel StandInUSB TestBasics
    ServiceMessages
    BluetoothService AccessStandIns BluetoothTesting SampleMessages StateExplorer TestBasics
    AppAdvice BluetoothSimulation Administration TestBasics
    ServiceProcess BluetoothSimulation AppStandIns HostileClients SampleMessages StandInKernel TestBasics
    CoreBluetooth BluetoothService SampleMessages ServiceStandIns
    CoreBluetoothExtras BluetoothSimulation AppStandIns ServiceStandIns TestBasics
    BluetoothSimulation BluetoothTesting CoreBluetoothExtras Demos AppStandIns TestBasics
    AccessorySetupKit BluetoothSimulation AppStandIns TestBasics
    ActivityKit BluetoothTesting AppStandIns TestBasics
    Quirk BluetoothSimulation AppStandIns
    Accessories AppStandIns TestBasics
    RadioEnergy
    BluetoothTesting AppStandIns TestBasics
    CaptureStory
    Page BluetoothTesting NIOEmbedded
    Examples Accessories BeltSetup BluetoothTesting DistanceMeter FileTransfer HealthThermometer HeartRate NearbyDevices \
        TextTransfer AppStandIns TestBasics
    Harald harald AppStandIns StandInKernel TestBasics
    """

let programs = ["BondKillPoints", "HaraldBenchmarks", "HaraldFuzzing"]
let resources = [
    "Page": [
        "advice.js", "apps.js", "device.js", "devices.js", "dissection.js", "elements.js", "energy.js", "events.js",
        "faults.js", "filter.js", "filterinput.js", "icon.svg", "icons.js", "index.html", "labels.js", "list.js",
        "model.js", "packets.js", "page.css", "page.js", "prompts.js", "rings.js", "timeline.js", "verbs.js", "why.js",
        "world.js", "worldmap.js",
    ].map { Resource.embedInCode("Assets/\($0)") } + [.embedInCode("LiveWorld/Assets/HeartRateWatch.txt")]
]
// `harald --version` prints what Packaging/build sets. A plain build sets nothing, so that it never changes with the commit
// alone.
let version = ["HARALD_COMMIT", "HARALD_COMPILER"].compactMap { name in
    Context.environment[name].map { CSetting.define(name, to: "\"\($0)\"") }
}

/// The targets named so far, with all that each uses, directly or not.
struct Named {
    var reached: [String: Set<String>] = [:]

    /// The names in a line, of which the first is the target's.
    mutating func words(_ line: Substring) -> [String] {
        let words = line.split(separator: " ").map(String.init)
        reached[words[0]] = Set(words).union(everything(words.dropFirst()))
        return words
    }

    /// What is used in any case is not named with a trait as well.
    func everything(_ names: some Sequence<String>) -> Set<String> {
        let all = names.reduce(into: Set()) { $0.formUnion(reached[$1] ?? [$1]) }
        return all.filter { !$0.contains("?") || !all.contains(String($0.prefix { $0 != "?" })) }
    }

    func target(
        _ name: String,
        path: String,
        _ names: some Sequence<String>,
        resources: [Resource] = []
    ) -> Target {
        let isC = name.first == "C" && name.dropFirst().first?.isUppercase == true
        guard !isC else {
            return .target(
                name: name,
                path: path,
                cSettings: (isStrict ? [.define("HARALD_STRICT")] : []) + (name == "CTool" ? version : []),
                linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]
            )
        }
        let uses = dependencies(names)
        return name.first?.isLowercase == true || programs.contains(name)
            ? .executableTarget(name: name, dependencies: uses, path: path, swiftSettings: settings)
            : .target(
                name: name,
                dependencies: uses,
                path: path,
                resources: resources,
                swiftSettings: settings
                    + (optimized.contains(name) ? [.unsafeFlags(["-O", "-assert-config", "Debug"])] : [])
            )
    }

    func dependencies(_ names: some Sequence<String>) -> [Target.Dependency] {
        names.map { name in
            let parts = name.split(separator: "?").map(String.init)
            let condition = parts.count > 1 ? TargetDependencyCondition.when(traits: [parts[1]]) : nil
            guard let package = packages[parts[0]] else { return .target(name: parts[0], condition: condition) }
            return .product(name: parts[0], package: package, condition: condition)
        }
    }
}

var named = Named()
var targets: [Target] = []
for (floor, lines) in floors {
    for line in lines.split(separator: "\n") {
        let words = named.words(line)
        let path = "Sources/\(floor)/\(words[0])"
        targets.append(named.target(words[0], path: path, words.dropFirst(), resources: resources[words[0]] ?? []))
    }
}
for line in fixtures.split(separator: "\n") {
    let words = named.words(line)
    let uses = named.everything(words.dropFirst()).sorted()
    targets.append(named.target(words[0], path: "Tests/Fixtures/\(words[0])", uses))
}
// The apps of Examples, which are packages of their own besides: what each does, and the program around it.
for (folder, library, program) in [
    ("HeartRate", "HeartRate", "heart-rate"), ("FileTransfer", "FileTransfer", "file-transfer"),
    ("DistanceMeter", "DistanceMeter", "distance-meter"),
    ("TextTransfer", "TextTransfer", "text-transfer"), ("Thermometer", "HealthThermometer", "thermometer"),
    ("BeltSetup", "BeltSetup", "belt-setup"), ("NearbyDevices", "NearbyDevices", "nearby-devices"),
] {
    let path = "Examples/\(folder)/Sources"
    let others = ["BeltSetup": ["AccessorySetupKit"], "NearbyDevices": ["ActivityKit"]]
    let frameworks = ["CoreBluetooth"] + others[folder, default: []]
    targets.append(named.target(library, path: "\(path)/\(library)", frameworks))
    targets.append(named.target(program, path: "\(path)/\(program)", [library] + frameworks))
}
for line in tests.split(separator: "\n") {
    let words = line.split(separator: " ").map(String.init)
    let name = "\(words[0])Tests"
    let uses = named.everything(named.reached[words[0]] == nil ? words.dropFirst() : words[...])
    named.reached[name] = uses
    targets.append(
        .testTarget(
            name: name,
            dependencies: named.dependencies(uses.sorted()),
            exclude: ["Cryptography": ["Vectors.txt"], "Harald": ["Explained.txt"]][words[0]] ?? [],
            swiftSettings: settings
        )
    )
}
// An app that is compiled as most still are.
targets.append(
    .testTarget(
        name: "CoreBluetoothSwift5Tests",
        dependencies: ["CoreBluetooth"],
        swiftSettings: [.swiftLanguageMode(.v5)]
    )
)
// They measure what the tool has.
let measured = named.reached["harald", default: []].subtracting(["harald"])
targets += [
    .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
    named.target(
        "HaraldBenchmarks",
        path: "Benchmarks/HaraldBenchmarks",
        measured.union(["CAllocations"]).sorted()
    ),
]
// Fuzzing/run sets this, and has libFuzzer's flags on its command line: nobody who depends on the package meets either.
if isFuzzing {
    let uses = named.everything(["Accessories", "CapturePlayback", "Page", "LoopbackLinks", "NIOEmbedded"]).sorted()
    targets.append(named.target("HaraldFuzzing", path: "Fuzzing/HaraldFuzzing", uses))
}

let package = Package(
    name: "harald-bluetooth",
    products: [
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "CoreBluetoothExtras", targets: ["CoreBluetoothExtras"]),
        .library(name: "AccessorySetupKit", targets: ["AccessorySetupKit"]),
        .library(name: "ActivityKit", targets: ["ActivityKit"]),
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
        // One only: SwiftPM 6.3 passes several in an order that changes from run to run, and each change of it compiles
        // everything again.
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
    targets: targets,
    swiftLanguageModes: [.v6]
)

// Some tests are built with what they use and nothing else. `Scripts/test ATT` sets whose. Races/run builds what has threads or
// sockets once more, for ThreadSanitizer. The tests of BluetoothService run on the test's thread alone; its service meets
// threads in the tests of the modules above it.
let watched = """
    AccessorySetupKit ActivityKit BluetoothSimulation BluetoothTesting CoreBluetooth CoreBluetoothExtras \
    CoreBluetoothSwift5 Cryptography ServiceProcess EventLoops Examples HCITransports
    """
if let chosen = isForRaces ? watched : Context.environment["HARALD_TESTS"] {
    let tests = chosen.split(separator: " ").map { "\($0)Tests" }
    let uses = named.everything(tests).map { String($0.prefix { $0 != "?" }) }
    let used = Set(tests).union(named.everything(uses))
    package.targets.removeAll { !used.contains($0.name) }
    package.products.removeAll { product in
        let parts = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
        return !used.isSuperset(of: parts)
    }
}
