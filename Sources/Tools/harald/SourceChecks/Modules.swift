/// The modules that a wrapped package can import.
struct Modules: Sendable {
    /// The available stand-ins: the name for `--with`, by module.
    static let standIns = ["Combine": "combine", "os": "os", "OSLog": "os", "CryptoKit": "cryptokit"]

    private let chosen: Set<String>

    init(standIns names: Set<String> = []) {
        chosen = names
    }

    /// Whether every file imports the stand-in `globals`.
    var hasGlobals: Bool { chosen.contains("globals") }

    /// Whether a module is available; nil if that depends on the package.
    func canImport(_ module: String) -> Bool? {
        if let name = Self.standIns[module] { return chosen.contains(name) }
        if Self.there.contains(module) { return true }
        return Self.missing.contains(module) ? false : nil
    }

    func advice(for module: String) -> String {
        if let name = Self.standIns[module] { return "use the stand-in, --with \(name)" }
        if module == "ObjectiveC" {
            return "put it behind #if canImport(ObjectiveC), or use --adapt; --with globals has associated objects"
        }
        return "put the code that needs it behind #if canImport(\(module))"
    }

    private static let there: Set<String> = [
        "CoreBluetooth", "CoreFoundation", "Dispatch", "Foundation", "FoundationEssentials", "FoundationNetworking",
        "FoundationXML", "Glibc", "Observation", "Swift", "Synchronization", "XCTest", "Testing", "_Concurrency",
    ]

    /// Frameworks of Apple's platforms that a Bluetooth app is likely to use. No package that builds on Apple's
    /// platforms has a module with one of these names.
    private static let missing: Set<String> = [
        "ARKit", "AVFAudio", "AVFoundation", "AVKit", "Accelerate", "Accessibility", "AccessorySetupKit", "ActivityKit",
        "AppIntents", "AppKit", "AudioToolbox", "BackgroundTasks", "CallKit", "Cocoa", "Contacts", "CoreAudio",
        "CoreData",
        "CoreGraphics", "CoreImage", "CoreLocation", "CoreML", "CoreMIDI", "CoreMotion", "CoreNFC", "CoreServices",
        "CoreSpotlight", "CoreTelephony", "CoreText", "CoreVideo", "Darwin", "DeviceCheck", "ExternalAccessory",
        "GameKit",
        "HealthKit", "HomeKit", "ImageIO", "IOBluetooth", "IOKit", "Intents", "LocalAuthentication", "MapKit",
        "MediaPlayer",
        "MessageUI", "Metal", "MetalKit", "MultipeerConnectivity", "NaturalLanguage", "NearbyInteraction", "Network",
        "NetworkExtension", "NotificationCenter", "ObjectiveC", "PDFKit", "Photos", "PhotosUI", "QuartzCore",
        "QuickLook",
        "RealityKit", "SafariServices", "SceneKit", "Security", "ServiceManagement", "SpriteKit", "StoreKit",
        "SwiftData",
        "SwiftUI", "SystemConfiguration", "UIKit", "UniformTypeIdentifiers", "UserNotifications", "Vision",
        "WatchConnectivity", "WatchKit", "WebKit", "WidgetKit", "XCPlayground",
    ]
}
