// swift-crypto is CryptoKit under another name, without the Secure Enclave.
@_exported import Crypto
