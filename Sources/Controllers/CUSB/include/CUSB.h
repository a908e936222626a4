// libusb-1.0, loaded when it is needed: nobody needs it to build, nor to run what has no controller on USB. Of its stable interface what is
// used is declared in CUSB.c, and compared there with its header where that is installed.

#ifndef HARALD_CUSB_H
#define HARALD_CUSB_H

#include <stddef.h>
#include <stdint.h>

/// The library, which stays loaded.
struct harald_usb;
/// A use of the library, with events of its own.
struct harald_usb_context;
/// A device that is open.
struct harald_usb_handle;
/// A transfer that has not come back.
struct harald_usb_transfer;

/// An endpoint of a device, with what is said of its interface.
struct harald_usb_endpoint {
    uint8_t interface, alternate, interface_class, subclass, protocol;
    uint8_t address, attributes;
    uint16_t size;
};

enum {
    /// Hubs behind each other, as many as there may be (USB 2.0 4.1.1).
    harald_usb_maximum_ports = 7,
    /// Endpoints of a device that are looked at, in the order of its descriptors. No device has more than 30 in use.
    harald_usb_maximum_endpoints = 64,
};

/// A device that is plugged in.
struct harald_usb_device {
    uint16_t vendor, product;
    uint8_t bus, address;
    uint8_t device_class, subclass, protocol;
    uint8_t port_count, ports[harald_usb_maximum_ports];
    uint8_t endpoint_count;
    struct harald_usb_endpoint endpoints[harald_usb_maximum_endpoints];
};

/// What becomes of a transfer: a status as libusb numbers them, and what went, or came.
typedef void (*harald_usb_completion)(void *context, int status, const uint8_t *octets, int count);

/// Loads the library; NULL where it is not there, or lacks something.
struct harald_usb *harald_usb_load(const char *name);

// What follows returns what libusb does: 0 or a count, or one of its errors, which are negative.

int harald_usb_begin(struct harald_usb *usb, struct harald_usb_context **context);
void harald_usb_end(struct harald_usb *usb, struct harald_usb_context *context);
/// Looks what is plugged in, as far as there is room; gives the count.
int harald_usb_devices(struct harald_usb *usb, struct harald_usb_context *context, struct harald_usb_device *devices, size_t room);
int harald_usb_open(struct harald_usb *usb, struct harald_usb_context *context, uint8_t bus, uint8_t address, struct harald_usb_handle **handle);
void harald_usb_close(struct harald_usb *usb, struct harald_usb_handle *handle);
int harald_usb_driver_active(struct harald_usb *usb, struct harald_usb_handle *handle, int interface);
int harald_usb_detach_driver(struct harald_usb *usb, struct harald_usb_handle *handle, int interface);
int harald_usb_attach_driver(struct harald_usb *usb, struct harald_usb_handle *handle, int interface);
int harald_usb_claim(struct harald_usb *usb, struct harald_usb_handle *handle, int interface);
int harald_usb_release(struct harald_usb *usb, struct harald_usb_handle *handle, int interface);
int harald_usb_select(struct harald_usb *usb, struct harald_usb_handle *handle, int interface, int alternate);
int harald_usb_clear_halt(struct harald_usb *usb, struct harald_usb_handle *handle, uint8_t endpoint);
int harald_usb_reset(struct harald_usb *usb, struct harald_usb_handle *handle);
/// Begins a transfer. `octets` are copied; without them there is room for `length`. `completion` is called once by whoever handles events, and the
/// transfer is nothing any more when it returns. Where this fails it is not called.
int harald_usb_submit(
    struct harald_usb *usb, struct harald_usb_handle *handle, uint8_t type, uint8_t endpoint, uint8_t flags,
    unsigned timeout, const uint8_t *octets, int length, void *context, harald_usb_completion completion,
    struct harald_usb_transfer **transfer
);
int harald_usb_cancel(struct harald_usb_transfer *transfer);
int harald_usb_handle_events(struct harald_usb *usb, struct harald_usb_context *context, int milliseconds);
void harald_usb_interrupt(struct harald_usb *usb, struct harald_usb_context *context);

#endif
