/// A substitute for one of Apple's frameworks.
enum StandIn: String, CaseIterable, Sendable {
    case combine
    case os
    case cryptokit
    case globals

    /// The modules that packages see.
    var modules: [String] {
        switch self {
        case .combine:
            [
                "Combine", "FoundationCombine", "OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation",
                "COpenCombineHelpers",
            ]
        case .os: ["os", "OSLog"]
        case .cryptokit: ["CryptoKit"]
        case .globals: ["HaraldCompatibility"]
        }
    }

    /// The library that has the stand-in, if it is apart from the others because it takes long to build.
    var product: String? { self == .cryptokit ? "HaraldCryptoKit" : nil }

    /// The module that every file imports implicitly; nil for none.
    var imported: String? {
        switch self {
        case .combine: "FoundationCombine"
        case .globals: "HaraldCompatibility"
        case .os, .cryptokit: nil
        }
    }
}
