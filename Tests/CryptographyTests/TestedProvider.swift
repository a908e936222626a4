@testable import Cryptography

/// A provider of this build, as the argument of a test. One that does not load fails its tests.
enum TestedProvider: String, CaseIterable {
    case libcrypto
    #if SwiftCrypto
        case swiftCrypto = "swift-crypto"
    #endif

    func make() throws -> any CryptographyProvider {
        switch self {
        case .libcrypto: try LibcryptoProvider()
        #if SwiftCrypto
            case .swiftCrypto: SwiftCryptoProvider()
        #endif
        }
    }
}
