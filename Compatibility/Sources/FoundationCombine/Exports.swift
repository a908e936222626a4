// On Apple's systems these two names come with Foundation, so files that use no more of Combine do not import it.
@_exported import protocol Combine.ObservableObject
@_exported import struct Combine.Published
