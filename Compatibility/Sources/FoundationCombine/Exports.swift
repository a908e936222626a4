// On Apple's systems Foundation re-exports these two names, so files that use nothing else of Combine do not import it.
@_exported import protocol Combine.ObservableObject
@_exported import struct Combine.Published
