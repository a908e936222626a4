// swift-crypto is CryptoKit under another name, but for the Secure Enclave.
@_exported import Crypto
