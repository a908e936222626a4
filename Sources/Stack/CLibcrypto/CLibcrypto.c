#include "CLibcrypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// --- the part of OpenSSL 3 that is used, under its own names ------------------------------------------------------------

typedef struct ossl_lib_ctx_st OSSL_LIB_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct evp_mac_st EVP_MAC;
typedef struct evp_mac_ctx_st EVP_MAC_CTX;
typedef struct ossl_param_st OSSL_PARAM;
typedef struct engine_st ENGINE;
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;
typedef struct ec_group_st EC_GROUP;
typedef struct ec_point_st EC_POINT;
struct ossl_init_settings_st;

// The layout of OSSL_PARAM(3), which is part of the interface.
struct parameter {
    const char *key;
    unsigned int data_type;
    void *data;
    size_t data_size;
    size_t return_size;
};

enum {
    parameter_utf8_string = 4,
    nid_p256 = 415,
    form_uncompressed = 4,
    block_length = 16,
    coordinate_length = 32,
    point_length = 1 + 2 * coordinate_length,
};
static const uint64_t init_no_atexit = 0x00080000L;

// Name, result, parameters.
#define FUNCTIONS(each) \
    each(OPENSSL_init_crypto, int, (uint64_t, const struct ossl_init_settings_st *)) \
    each(OPENSSL_cleanse, void, (void *, size_t)) \
    each(ERR_set_mark, int, (void)) \
    each(ERR_pop_to_mark, int, (void)) \
    each(OSSL_LIB_CTX_new, OSSL_LIB_CTX *, (void)) \
    each(EVP_CIPHER_fetch, EVP_CIPHER *, (OSSL_LIB_CTX *, const char *, const char *)) \
    each(EVP_CIPHER_CTX_new, EVP_CIPHER_CTX *, (void)) \
    each(EVP_CIPHER_CTX_free, void, (EVP_CIPHER_CTX *)) \
    each(EVP_CIPHER_CTX_set_padding, int, (EVP_CIPHER_CTX *, int)) \
    each(EVP_EncryptInit_ex2, int, (EVP_CIPHER_CTX *, const EVP_CIPHER *, const unsigned char *, const unsigned char *, const OSSL_PARAM *)) \
    each(EVP_EncryptUpdate, int, (EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int)) \
    each(EVP_MD_fetch, EVP_MD *, (OSSL_LIB_CTX *, const char *, const char *)) \
    each(EVP_Digest, int, (const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *, ENGINE *)) \
    each(EVP_MAC_fetch, EVP_MAC *, (OSSL_LIB_CTX *, const char *, const char *)) \
    each(EVP_MAC_CTX_new, EVP_MAC_CTX *, (EVP_MAC *)) \
    each(EVP_MAC_CTX_dup, EVP_MAC_CTX *, (const EVP_MAC_CTX *)) \
    each(EVP_MAC_CTX_free, void, (EVP_MAC_CTX *)) \
    each(EVP_MAC_init, int, (EVP_MAC_CTX *, const unsigned char *, size_t, const OSSL_PARAM *)) \
    each(EVP_MAC_update, int, (EVP_MAC_CTX *, const unsigned char *, size_t)) \
    each(EVP_MAC_final, int, (EVP_MAC_CTX *, unsigned char *, size_t *, size_t)) \
    each(BN_CTX_secure_new_ex, BN_CTX *, (OSSL_LIB_CTX *)) \
    each(BN_CTX_free, void, (BN_CTX *)) \
    each(BN_secure_new, BIGNUM *, (void)) \
    each(BN_bin2bn, BIGNUM *, (const unsigned char *, int, BIGNUM *)) \
    each(BN_is_zero, int, (const BIGNUM *)) \
    each(BN_cmp, int, (const BIGNUM *, const BIGNUM *)) \
    each(BN_clear_free, void, (BIGNUM *)) \
    each(EC_GROUP_new_by_curve_name_ex, EC_GROUP *, (OSSL_LIB_CTX *, const char *, int)) \
    each(EC_GROUP_get0_order, const BIGNUM *, (const EC_GROUP *)) \
    each(EC_POINT_new, EC_POINT *, (const EC_GROUP *)) \
    each(EC_POINT_clear_free, void, (EC_POINT *)) \
    each(EC_POINT_oct2point, int, (const EC_GROUP *, EC_POINT *, const unsigned char *, size_t, BN_CTX *)) \
    each(EC_POINT_point2oct, size_t, (const EC_GROUP *, const EC_POINT *, point_form, unsigned char *, size_t, BN_CTX *)) \
    each(EC_POINT_mul, int, (const EC_GROUP *, EC_POINT *, const BIGNUM *, const EC_POINT *, const BIGNUM *, BN_CTX *))

// In our own checks, the declarations are compared with the headers where these are installed. Other builds do not depend on them.
#if defined(HARALD_STRICT) && __has_include(<openssl/evp.h>)
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>
typedef point_conversion_form_t point_form;
#define CHECK(name, result, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), result (*) parameters), #name);
FUNCTIONS(CHECK)
#define SAME(ours, field) _Static_assert(offsetof(struct parameter, ours) == offsetof(OSSL_PARAM, field), #field);
SAME(key, key)
SAME(data_type, data_type)
SAME(data, data)
SAME(data_size, data_size)
SAME(return_size, return_size)
_Static_assert(sizeof(struct parameter) == sizeof(OSSL_PARAM), "OSSL_PARAM");
_Static_assert(parameter_utf8_string == OSSL_PARAM_UTF8_STRING, "type of a parameter");
_Static_assert(nid_p256 == NID_X9_62_prime256v1, "curve");
_Static_assert((int)form_uncompressed == (int)POINT_CONVERSION_UNCOMPRESSED, "form of a point");
_Static_assert(OPENSSL_INIT_NO_ATEXIT == 0x00080000L, "option");
#else
typedef int point_form; // of an enumeration's size
#endif

// --- loading it ---------------------------------------------------------------------------------------------------------

struct functions {
#define FIELD(name, result, parameters) result (*name) parameters;
    FUNCTIONS(FIELD)
};

// Written once, before harald_libcrypto_load returns 1. What is fetched is immutable, and lives as long as the process.
static struct functions ssl;
static OSSL_LIB_CTX *context;
static EVP_CIPHER *ciphers[harald_mode_ctr + 1];
static EVP_MD *sha256;
static EVP_MAC_CTX *cmac, *hmac;
static EC_GROUP *p256;

static int fail(char *reason, size_t room, const char *text) {
    snprintf(reason, room, "%s", text ? text : "unknown error");
    return 0;
}

// A context with a parameter and a key that is replaced in copies.
static EVP_MAC_CTX *prepare_mac(const char *name, const char *parameter, const char *value) {
    EVP_MAC *mac = ssl.EVP_MAC_fetch(context, name, NULL);
    EVP_MAC_CTX *template = mac ? ssl.EVP_MAC_CTX_new(mac) : NULL;
    if (!template) return NULL;
    static const unsigned char key[block_length];
    struct parameter parameters[] = {{parameter, parameter_utf8_string, (void *)value, strlen(value), 0}, {0}};
    return ssl.EVP_MAC_init(template, key, sizeof(key), (const OSSL_PARAM *)parameters) == 1 ? template : NULL;
}

static int prepare(void) {
    // At the exit of the process, other threads may still be in the library.
    if (ssl.OPENSSL_init_crypto(init_no_atexit, NULL) != 1) return 0;
    // A context of our own, which neither openssl.cnf nor the rest of the process configures.
    if (!(context = ssl.OSSL_LIB_CTX_new())) return 0;
    ciphers[harald_mode_ecb] = ssl.EVP_CIPHER_fetch(context, "AES-128-ECB", NULL);
    ciphers[harald_mode_cbc] = ssl.EVP_CIPHER_fetch(context, "AES-128-CBC", NULL);
    ciphers[harald_mode_ctr] = ssl.EVP_CIPHER_fetch(context, "AES-128-CTR", NULL);
    sha256 = ssl.EVP_MD_fetch(context, "SHA256", NULL);
    cmac = prepare_mac("CMAC", "cipher", "AES-128-CBC");
    hmac = prepare_mac("HMAC", "digest", "SHA256");
    p256 = ssl.EC_GROUP_new_by_curve_name_ex(context, NULL, nid_p256);
    return ciphers[harald_mode_ecb] && ciphers[harald_mode_cbc] && ciphers[harald_mode_ctr] && sha256 && cmac && hmac && p256;
}

static int find(const char *name, struct functions *found, char *reason, size_t room) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(reason, room, dlerror());
#define FIND(name, result, parameters) \
    if (!(found->name = (result (*) parameters)dlsym(library, #name))) return fail(reason, room, "it has no function " #name);
    FUNCTIONS(FIND)
    return 1;
}

int harald_libcrypto_load(const char *name, char *reason, size_t room) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    struct functions found;
    if (!find(name, &found, reason, room)) return 0;
    pthread_mutex_lock(&lock);
    if (!is_loaded) {
        ssl = found;
        ssl.ERR_set_mark();
        is_loaded = prepare();
        ssl.ERR_pop_to_mark();
    }
    int result = is_loaded ? 1 : fail(reason, room, "its default provider lacks an algorithm");
    pthread_mutex_unlock(&lock);
    return result;
}

// --- AES ----------------------------------------------------------------------------------------------------------------

static void write_block(struct harald_block block, uint8_t octets[block_length]) {
    for (int i = 0; i < 8; i++) {
        octets[i] = (uint8_t)(block.high >> (56 - 8 * i));
        octets[8 + i] = (uint8_t)(block.low >> (56 - 8 * i));
    }
}

static struct harald_block read_block(const uint8_t octets[block_length]) {
    struct harald_block block = {0, 0};
    for (int i = 0; i < 8; i++) {
        block.high = block.high << 8 | octets[i];
        block.low = block.low << 8 | octets[8 + i];
    }
    return block;
}

struct evp_cipher_ctx_st *harald_aes_create(enum harald_mode mode, struct harald_block key) {
    EVP_CIPHER_CTX *aes = ssl.EVP_CIPHER_CTX_new();
    if (!aes) return NULL;
    static const uint8_t zeroes[block_length];
    uint8_t octets[block_length];
    write_block(key, octets);
    ssl.ERR_set_mark();
    int is_ready = ssl.EVP_EncryptInit_ex2(aes, ciphers[mode], octets, mode == harald_mode_ecb ? NULL : zeroes, NULL) == 1
        && ssl.EVP_CIPHER_CTX_set_padding(aes, 0) == 1;
    ssl.ERR_pop_to_mark();
    ssl.OPENSSL_cleanse(octets, sizeof(octets));
    if (is_ready) return aes;
    ssl.EVP_CIPHER_CTX_free(aes);
    return NULL;
}

void harald_aes_free(struct evp_cipher_ctx_st *aes) { ssl.EVP_CIPHER_CTX_free(aes); }

int harald_aes_encrypt(struct evp_cipher_ctx_st *aes, struct harald_block *block) {
    uint8_t octets[block_length];
    int count = 0;
    write_block(*block, octets);
    int is_done = ssl.EVP_EncryptUpdate(aes, octets, &count, octets, block_length) == 1 && count == block_length;
    *block = read_block(octets);
    return is_done;
}

int harald_aes_chain(struct evp_cipher_ctx_st *aes, const uint8_t *octets, size_t count, struct harald_block *last) {
    static const uint8_t zeroes[block_length];
    uint8_t output[16 * block_length];
    int written = 0;
    if (count == 0 || count % block_length != 0) return 0;
    if (ssl.EVP_EncryptInit_ex2(aes, NULL, NULL, zeroes, NULL) != 1) return 0;
    while (count > 0) {
        int part = count < sizeof(output) ? (int)count : (int)sizeof(output);
        if (ssl.EVP_EncryptUpdate(aes, output, &written, octets, part) != 1 || written != part) return 0;
        octets += part;
        count -= (size_t)part;
    }
    *last = read_block(output + written - block_length);
    return 1;
}

int harald_aes_stream(
    struct evp_cipher_ctx_st *aes, struct harald_block first, struct harald_block *mask, const uint8_t *input, size_t count, uint8_t *output
) {
    static const uint8_t zeroes[block_length];
    uint8_t octets[block_length];
    int written = 0;
    if (count > INT32_MAX) return 0;
    write_block(first, octets);
    if (ssl.EVP_EncryptInit_ex2(aes, NULL, NULL, octets, NULL) != 1) return 0;
    if (ssl.EVP_EncryptUpdate(aes, octets, &written, zeroes, block_length) != 1 || written != block_length) return 0;
    *mask = read_block(octets);
    if (count == 0) return 1;
    return ssl.EVP_EncryptUpdate(aes, output, &written, input, (int)count) == 1 && (size_t)written == count;
}

// --- codes and digests --------------------------------------------------------------------------------------------------

static int compute_mac(
    const EVP_MAC_CTX *template, const uint8_t *key, size_t key_count, const uint8_t *octets, size_t count, uint8_t *code, size_t length
) {
    size_t written = 0;
    EVP_MAC_CTX *mac = ssl.EVP_MAC_CTX_dup(template);
    if (!mac) return 0;
    int is_done = ssl.EVP_MAC_init(mac, key, key_count, NULL) == 1
        && (count == 0 || ssl.EVP_MAC_update(mac, octets, count) == 1)
        && ssl.EVP_MAC_final(mac, code, &written, length) == 1 && written == length;
    // Clears its keys, too.
    ssl.EVP_MAC_CTX_free(mac);
    return is_done;
}

int harald_aes_cmac(struct harald_block key, const uint8_t *octets, size_t count, struct harald_block *code) {
    uint8_t key_octets[block_length], output[block_length] = {0};
    write_block(key, key_octets);
    int is_done = compute_mac(cmac, key_octets, sizeof(key_octets), octets, count, output, sizeof(output));
    ssl.OPENSSL_cleanse(key_octets, sizeof(key_octets));
    *code = read_block(output);
    ssl.OPENSSL_cleanse(output, sizeof(output));
    return is_done;
}

int harald_sha256(const void *octets, size_t count, uint8_t *digest) {
    unsigned int written = 0;
    return ssl.EVP_Digest(count > 0 ? octets : "", count, digest, &written, sha256, NULL) == 1 && written == 32;
}

int harald_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *octets, size_t count, uint8_t *code) {
    // NULL would keep the key of the template.
    static const uint8_t empty[1];
    return compute_mac(hmac, key_count > 0 ? key : empty, key_count, octets, count, code, 32);
}

// --- P-256 --------------------------------------------------------------------------------------------------------------

struct bignum_st *harald_p256_create(const uint8_t *octets) {
    BIGNUM *key = ssl.BN_secure_new();
    if (key && ssl.BN_bin2bn(octets, coordinate_length, key) && !ssl.BN_is_zero(key)
        && ssl.BN_cmp(key, ssl.EC_GROUP_get0_order(p256)) < 0) return key;
    ssl.BN_clear_free(key);
    return NULL;
}

void harald_p256_free(struct bignum_st *key) { ssl.BN_clear_free(key); }

// Multiplies the generator, or the peer's point if there is one, by the private key. A single product takes constant time; the sum of two, which
// EC_POINT_mul also computes, does not.
static int multiply(const BIGNUM *key, const uint8_t *peer, uint8_t product[point_length]) {
    BN_CTX *numbers = ssl.BN_CTX_secure_new_ex(context);
    EC_POINT *point = ssl.EC_POINT_new(p256), *factor = peer ? ssl.EC_POINT_new(p256) : NULL;
    int is_done = numbers && point && (factor || !peer);
    if (is_done && peer) {
        uint8_t octets[point_length] = {form_uncompressed};
        memcpy(octets + 1, peer, 2 * coordinate_length);
        // Rejects a point that is not on the curve. The point at infinity has no such encoding.
        is_done = ssl.EC_POINT_oct2point(p256, factor, octets, sizeof(octets), numbers) == 1;
    }
    is_done = is_done
        && ssl.EC_POINT_mul(p256, point, peer ? NULL : key, factor, peer ? key : NULL, numbers) == 1
        && ssl.EC_POINT_point2oct(p256, point, form_uncompressed, product, point_length, numbers) == point_length;
    ssl.EC_POINT_clear_free(factor);
    ssl.EC_POINT_clear_free(point);
    ssl.BN_CTX_free(numbers);
    return is_done;
}

int harald_p256_public(const struct bignum_st *key, uint8_t *point) {
    uint8_t product[point_length];
    ssl.ERR_set_mark();
    int is_done = multiply(key, NULL, product);
    ssl.ERR_pop_to_mark();
    if (is_done) memcpy(point, product + 1, 2 * coordinate_length);
    return is_done;
}

int harald_p256_agree(const struct bignum_st *key, const uint8_t *peer, uint8_t *secret) {
    uint8_t product[point_length] = {0};
    ssl.ERR_set_mark();
    int is_done = multiply(key, peer, product);
    ssl.ERR_pop_to_mark();
    if (is_done) memcpy(secret, product + 1, coordinate_length);
    ssl.OPENSSL_cleanse(product, sizeof(product));
    return is_done;
}
