/// What a wrapped package can import.
package struct Modules: Sendable {
    /// The stand-ins that there are, each by what is imported, with the name that asks for it.
    package static let standIns = ["Combine": "combine", "os": "os", "OSLog": "os", "CryptoKit": "cryptokit"]

    /// Those that were asked for.
    private let chosen: Set<String>

    /// What is there with the stand-ins of these names.
    package init(standIns names: Set<String> = []) {
        chosen = names
    }

    /// Whether `import` of this finds something; nil when that depends on the package.
    func canImport(_ module: String) -> Bool? {
        if let name = Self.standIns[module] { return chosen.contains(name) }
        if Self.there.contains(module) { return true }
        return Self.missing.contains(module) ? false : nil
    }

    /// What to do about an import that finds nothing.
    func advice(for module: String) -> String {
        if let name = Self.standIns[module] { return "--with \(name) has a stand-in" }
        return "put what needs it behind #if canImport(\(module))"
    }

    private static let there: Set<String> = [
        "CoreBluetooth", "CoreFoundation", "Dispatch", "Foundation", "FoundationEssentials", "FoundationNetworking",
        "FoundationXML", "Glibc", "Observation", "Swift", "Synchronization", "XCTest", "Testing", "_Concurrency",
    ]

    /// Frameworks of Apple's systems that a Bluetooth app is likely to use. A package may not have a module of such a name
    /// and build on Apple's systems.
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
