#include "CUSB.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>

// --- what libusb-1.0 declares, as its interface has been since 1.0.0 ---------------------------------------------------

struct usb_device_descriptor {
    uint8_t bLength, bDescriptorType;
    uint16_t bcdUSB;
    uint8_t bDeviceClass, bDeviceSubClass, bDeviceProtocol, bMaxPacketSize0;
    uint16_t idVendor, idProduct, bcdDevice;
    uint8_t iManufacturer, iProduct, iSerialNumber, bNumConfigurations;
};

struct usb_endpoint_descriptor {
    uint8_t bLength, bDescriptorType, bEndpointAddress, bmAttributes;
    uint16_t wMaxPacketSize;
    uint8_t bInterval, bRefresh, bSynchAddress;
    const unsigned char *extra;
    int extra_length;
};

struct usb_interface_descriptor {
    uint8_t bLength, bDescriptorType, bInterfaceNumber, bAlternateSetting, bNumEndpoints;
    uint8_t bInterfaceClass, bInterfaceSubClass, bInterfaceProtocol, iInterface;
    const struct usb_endpoint_descriptor *endpoint;
    const unsigned char *extra;
    int extra_length;
};

struct usb_interface {
    const struct usb_interface_descriptor *altsetting;
    int num_altsetting;
};

struct usb_config_descriptor {
    uint8_t bLength, bDescriptorType;
    uint16_t wTotalLength;
    uint8_t bNumInterfaces, bConfigurationValue, iConfiguration, bmAttributes, MaxPower;
    const struct usb_interface *interface;
    const unsigned char *extra;
    int extra_length;
};

struct usb_transfer;
typedef void (*usb_callback)(struct usb_transfer *transfer);

struct usb_transfer {
    struct harald_usb_handle *dev_handle;
    uint8_t flags;
    unsigned char endpoint, type;
    unsigned int timeout;
    int status;
    int length, actual_length;
    usb_callback callback;
    void *user_data;
    unsigned char *buffer;
    int num_iso_packets;
};

enum { usb_error_no_device = -4, usb_error_no_mem = -11, usb_type_control = 0, usb_setup_length = 8 };

#if __has_include(<libusb-1.0/libusb.h>)
#include <libusb-1.0/libusb.h>
#define SAME(ours, theirs, field) \
    _Static_assert(offsetof(struct ours, field) == offsetof(struct theirs, field), #theirs "." #field)
_Static_assert(sizeof(struct usb_device_descriptor) == sizeof(struct libusb_device_descriptor), "device descriptor");
SAME(usb_device_descriptor, libusb_device_descriptor, bDeviceClass);
SAME(usb_device_descriptor, libusb_device_descriptor, idVendor);
SAME(usb_device_descriptor, libusb_device_descriptor, idProduct);
_Static_assert(sizeof(struct usb_endpoint_descriptor) == sizeof(struct libusb_endpoint_descriptor), "endpoint descriptor");
SAME(usb_endpoint_descriptor, libusb_endpoint_descriptor, bEndpointAddress);
SAME(usb_endpoint_descriptor, libusb_endpoint_descriptor, bmAttributes);
SAME(usb_endpoint_descriptor, libusb_endpoint_descriptor, wMaxPacketSize);
_Static_assert(sizeof(struct usb_interface_descriptor) == sizeof(struct libusb_interface_descriptor), "interface descriptor");
SAME(usb_interface_descriptor, libusb_interface_descriptor, bInterfaceNumber);
SAME(usb_interface_descriptor, libusb_interface_descriptor, bInterfaceProtocol);
SAME(usb_interface_descriptor, libusb_interface_descriptor, endpoint);
_Static_assert(sizeof(struct usb_interface) == sizeof(struct libusb_interface), "interface");
SAME(usb_interface, libusb_interface, num_altsetting);
_Static_assert(sizeof(struct usb_config_descriptor) == sizeof(struct libusb_config_descriptor), "configuration descriptor");
SAME(usb_config_descriptor, libusb_config_descriptor, bNumInterfaces);
SAME(usb_config_descriptor, libusb_config_descriptor, interface);
SAME(usb_transfer, libusb_transfer, flags);
SAME(usb_transfer, libusb_transfer, endpoint);
SAME(usb_transfer, libusb_transfer, type);
SAME(usb_transfer, libusb_transfer, timeout);
SAME(usb_transfer, libusb_transfer, status);
SAME(usb_transfer, libusb_transfer, length);
SAME(usb_transfer, libusb_transfer, actual_length);
SAME(usb_transfer, libusb_transfer, callback);
SAME(usb_transfer, libusb_transfer, user_data);
SAME(usb_transfer, libusb_transfer, buffer);
_Static_assert(sizeof(((struct libusb_transfer *)0)->status) == sizeof(int), "status");
_Static_assert(usb_error_no_device == LIBUSB_ERROR_NO_DEVICE && usb_error_no_mem == LIBUSB_ERROR_NO_MEM, "errors");
_Static_assert(usb_type_control == LIBUSB_TRANSFER_TYPE_CONTROL && LIBUSB_TRANSFER_TYPE_BULK == 2, "types");
_Static_assert(LIBUSB_TRANSFER_TYPE_INTERRUPT == 3 && LIBUSB_TRANSFER_ADD_ZERO_PACKET == 8, "types and flags");
_Static_assert(LIBUSB_TRANSFER_COMPLETED == 0 && LIBUSB_TRANSFER_TIMED_OUT == 2, "statuses");
_Static_assert(LIBUSB_TRANSFER_CANCELLED == 3 && LIBUSB_TRANSFER_STALL == 4, "statuses");
_Static_assert(LIBUSB_TRANSFER_NO_DEVICE == 5, "statuses");
_Static_assert(usb_setup_length == sizeof(struct libusb_control_setup), "setup");
#endif

// --- loading it ---------------------------------------------------------------------------------------------------------

struct usb_found; // a device, as the library has it

// Name in the library, result, parameters.
#define FUNCTIONS(each) \
    each(init, int, (struct harald_usb_context **)) \
    each(exit, void, (struct harald_usb_context *)) \
    each(get_device_list, ssize_t, (struct harald_usb_context *, struct usb_found ***)) \
    each(free_device_list, void, (struct usb_found **, int)) \
    each(get_device_descriptor, int, (struct usb_found *, struct usb_device_descriptor *)) \
    each(get_active_config_descriptor, int, (struct usb_found *, struct usb_config_descriptor **)) \
    each(free_config_descriptor, void, (struct usb_config_descriptor *)) \
    each(get_bus_number, uint8_t, (struct usb_found *)) \
    each(get_device_address, uint8_t, (struct usb_found *)) \
    each(get_port_numbers, int, (struct usb_found *, uint8_t *, int)) \
    each(open, int, (struct usb_found *, struct harald_usb_handle **)) \
    each(close, void, (struct harald_usb_handle *)) \
    each(kernel_driver_active, int, (struct harald_usb_handle *, int)) \
    each(detach_kernel_driver, int, (struct harald_usb_handle *, int)) \
    each(attach_kernel_driver, int, (struct harald_usb_handle *, int)) \
    each(claim_interface, int, (struct harald_usb_handle *, int)) \
    each(release_interface, int, (struct harald_usb_handle *, int)) \
    each(set_interface_alt_setting, int, (struct harald_usb_handle *, int, int)) \
    each(clear_halt, int, (struct harald_usb_handle *, unsigned char)) \
    each(reset_device, int, (struct harald_usb_handle *)) \
    each(alloc_transfer, struct usb_transfer *, (int)) \
    each(free_transfer, void, (struct usb_transfer *)) \
    each(submit_transfer, int, (struct usb_transfer *)) \
    each(cancel_transfer, int, (struct usb_transfer *)) \
    each(handle_events_timeout_completed, int, (struct harald_usb_context *, struct timeval *, int *)) \
    each(interrupt_event_handler, void, (struct harald_usb_context *))

struct harald_usb {
#define FIELD(name, result, parameters) result (*name) parameters;
    FUNCTIONS(FIELD)
};

struct harald_usb *harald_usb_load(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    struct harald_usb *usb = calloc(1, sizeof(*usb));
    int lacks = !usb;
#define FIND(name, result, parameters) \
    if (usb && !(usb->name = (result (*) parameters)dlsym(library, "libusb_" #name))) lacks = 1;
    FUNCTIONS(FIND)
    if (!lacks) return usb;
    free(usb);
    dlclose(library);
    return NULL;
}

int harald_usb_begin(struct harald_usb *usb, struct harald_usb_context **context) { return usb->init(context); }
void harald_usb_end(struct harald_usb *usb, struct harald_usb_context *context) { usb->exit(context); }

// --- devices ------------------------------------------------------------------------------------------------------------

static void describe_endpoints(struct harald_usb_device *device, const struct usb_config_descriptor *configuration) {
    for (int i = 0; i < configuration->bNumInterfaces; i++) {
        for (int a = 0; a < configuration->interface[i].num_altsetting; a++) {
            const struct usb_interface_descriptor *setting = &configuration->interface[i].altsetting[a];
            for (int e = 0; e < setting->bNumEndpoints; e++) {
                if (device->endpoint_count == harald_usb_maximum_endpoints) return;
                device->endpoints[device->endpoint_count++] = (struct harald_usb_endpoint){
                    .interface = setting->bInterfaceNumber,
                    .alternate = setting->bAlternateSetting,
                    .interface_class = setting->bInterfaceClass,
                    .subclass = setting->bInterfaceSubClass,
                    .protocol = setting->bInterfaceProtocol,
                    .address = setting->endpoint[e].bEndpointAddress,
                    .attributes = setting->endpoint[e].bmAttributes,
                    .size = setting->endpoint[e].wMaxPacketSize,
                };
            }
        }
    }
}

static int describe(struct harald_usb *usb, struct usb_found *found, struct harald_usb_device *device) {
    struct usb_device_descriptor descriptor;
    int error = usb->get_device_descriptor(found, &descriptor);
    if (error < 0) return error;
    memset(device, 0, sizeof(*device));
    device->vendor = descriptor.idVendor;
    device->product = descriptor.idProduct;
    device->bus = usb->get_bus_number(found);
    device->address = usb->get_device_address(found);
    device->device_class = descriptor.bDeviceClass;
    device->subclass = descriptor.bDeviceSubClass;
    device->protocol = descriptor.bDeviceProtocol;
    int ports = usb->get_port_numbers(found, device->ports, harald_usb_maximum_ports);
    device->port_count = ports > 0 ? (uint8_t)ports : 0;
    struct usb_config_descriptor *configuration = NULL;
    // One that is not configured has no endpoints.
    if (usb->get_active_config_descriptor(found, &configuration) == 0 && configuration) {
        describe_endpoints(device, configuration);
        usb->free_config_descriptor(configuration);
    }
    return 0;
}

int harald_usb_devices(struct harald_usb *usb, struct harald_usb_context *context, struct harald_usb_device *devices, size_t room) {
    struct usb_found **list = NULL;
    ssize_t count = usb->get_device_list(context, &list);
    if (count < 0) return (int)count;
    size_t described = 0;
    for (ssize_t i = 0; i < count && described < room; i++) {
        // One that is gone by now is none.
        if (describe(usb, list[i], &devices[described]) == 0) described++;
    }
    usb->free_device_list(list, 1);
    return (int)described;
}

int harald_usb_open(struct harald_usb *usb, struct harald_usb_context *context, uint8_t bus, uint8_t address, struct harald_usb_handle **handle) {
    struct usb_found **list = NULL;
    ssize_t count = usb->get_device_list(context, &list);
    if (count < 0) return (int)count;
    int result = usb_error_no_device;
    for (ssize_t i = 0; i < count; i++) {
        if (usb->get_bus_number(list[i]) != bus || usb->get_device_address(list[i]) != address) continue;
        result = usb->open(list[i], handle);
        break;
    }
    usb->free_device_list(list, 1);
    return result;
}

void harald_usb_close(struct harald_usb *usb, struct harald_usb_handle *handle) { usb->close(handle); }
int harald_usb_driver_active(struct harald_usb *usb, struct harald_usb_handle *handle, int interface) {
    return usb->kernel_driver_active(handle, interface);
}
int harald_usb_detach_driver(struct harald_usb *usb, struct harald_usb_handle *handle, int interface) {
    return usb->detach_kernel_driver(handle, interface);
}
int harald_usb_attach_driver(struct harald_usb *usb, struct harald_usb_handle *handle, int interface) {
    return usb->attach_kernel_driver(handle, interface);
}
int harald_usb_claim(struct harald_usb *usb, struct harald_usb_handle *handle, int interface) {
    return usb->claim_interface(handle, interface);
}
int harald_usb_release(struct harald_usb *usb, struct harald_usb_handle *handle, int interface) {
    return usb->release_interface(handle, interface);
}
int harald_usb_select(struct harald_usb *usb, struct harald_usb_handle *handle, int interface, int alternate) {
    return usb->set_interface_alt_setting(handle, interface, alternate);
}
int harald_usb_clear_halt(struct harald_usb *usb, struct harald_usb_handle *handle, uint8_t endpoint) {
    return usb->clear_halt(handle, endpoint);
}
int harald_usb_reset(struct harald_usb *usb, struct harald_usb_handle *handle) { return usb->reset_device(handle); }

// --- transfers ----------------------------------------------------------------------------------------------------------

struct harald_usb_transfer {
    struct harald_usb *usb;
    struct usb_transfer *transfer;
    void *context;
    harald_usb_completion completion;
    uint8_t octets[];
};

static void dispose(struct harald_usb_transfer *own) {
    if (own->transfer) own->usb->free_transfer(own->transfer);
    free(own);
}

static void completed(struct usb_transfer *transfer) {
    struct harald_usb_transfer *own = transfer->user_data;
    // What begins a control transfer does not count as its octets.
    int start = transfer->type == usb_type_control ? usb_setup_length : 0;
    own->completion(own->context, transfer->status, own->octets + start, transfer->actual_length);
    dispose(own);
}

int harald_usb_submit(
    struct harald_usb *usb, struct harald_usb_handle *handle, uint8_t type, uint8_t endpoint, uint8_t flags,
    unsigned timeout, const uint8_t *octets, int length, void *context, harald_usb_completion completion,
    struct harald_usb_transfer **transfer
) {
    struct harald_usb_transfer *own = calloc(1, sizeof(*own) + (size_t)length);
    if (!own) return usb_error_no_mem;
    own->usb = usb;
    own->context = context;
    own->completion = completion;
    own->transfer = usb->alloc_transfer(0);
    if (!own->transfer) {
        dispose(own);
        return usb_error_no_mem;
    }
    if (octets) memcpy(own->octets, octets, (size_t)length);
    own->transfer->dev_handle = handle;
    own->transfer->flags = flags;
    own->transfer->endpoint = endpoint;
    own->transfer->type = type;
    own->transfer->timeout = timeout;
    own->transfer->length = length;
    own->transfer->callback = completed;
    own->transfer->user_data = own;
    own->transfer->buffer = own->octets;
    // It may come back before this returns.
    *transfer = own;
    int error = usb->submit_transfer(own->transfer);
    if (error < 0) dispose(own);
    return error;
}

int harald_usb_cancel(struct harald_usb_transfer *transfer) {
    return transfer->usb->cancel_transfer(transfer->transfer);
}

int harald_usb_handle_events(struct harald_usb *usb, struct harald_usb_context *context, int milliseconds) {
    struct timeval most = {.tv_sec = milliseconds / 1000, .tv_usec = (milliseconds % 1000) * 1000};
    return usb->handle_events_timeout_completed(context, &most, NULL);
}

void harald_usb_interrupt(struct harald_usb *usb, struct harald_usb_context *context) {
    usb->interrupt_event_handler(context);
}
