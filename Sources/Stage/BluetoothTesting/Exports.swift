// One import makes worlds, devices and apps available to tests. The default arguments of expectations need Testing,
// in tests of XCTest too.
@_exported import BluetoothSimulation
@_exported import RadioEnergy
@_exported import Testing

@_exported import struct AppAdvice.Advice
@_exported import struct AppAdvice.AdviceCost
@_exported import enum AppAdvice.AdviceRule
@_exported import struct ServiceMessages.CallPlace
