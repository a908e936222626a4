// Types of other modules that tests name. One import makes them available, with their members.
@_exported import struct BluetoothService.SystemVersion
@_exported import struct CapturePlayback.CaptureDeparture
@_exported import struct CapturePlayback.CapturedController
@_exported import struct CapturePlayback.CapturedControllerError
@_exported import struct EventLoops.Pace
@_exported import class EventLoops.VirtualEventLoop
@_exported import struct LinkLayer.AirQuality
@_exported import enum LinkLayer.ControllerQuirk
@_exported import struct LinkLayer.Interference
@_exported import struct LinkLayer.Position
@_exported import class LinkLayer.Radio
@_exported import struct LinkLayer.RadioChannels
@_exported import struct LinkLayer.Wall
@_exported import struct ServiceMessages.AppDeclaration
@_exported import enum ServiceMessages.AppPermission
