// libcrypto of OpenSSL 3, loaded at run time. A build needs neither the library nor its headers: CLibcrypto.c declares the part of its
// stable interface that is used here.

#ifndef HARALD_CLIBCRYPTO_H
#define HARALD_CLIBCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/// A 128-bit key or block as a number.
struct harald_block {
    uint64_t high, low;
};

/// The mode of a cipher.
enum harald_mode { harald_mode_ecb, harald_mode_cbc, harald_mode_ctr };

/// AES-128 with an expanded key. Only one thread at a time may use it.
struct evp_cipher_ctx_st;
/// A private key on P-256. It is immutable.
struct bignum_st;

/// Loads the library `name`, once per process. Returns 1 if it is loaded, otherwise 0 with an explanation in `reason`. No other function may be
/// called before it has returned 1.
int harald_libcrypto_load(const char *name, char *reason, size_t room);

// The functions below return 1 on success. Otherwise they return 0 or NULL: the library has failed, for example for lack of memory, unless noted
// otherwise.

/// Expands a key for one mode.
struct evp_cipher_ctx_st *harald_aes_create(enum harald_mode mode, struct harald_block key);
/// Clears and frees the expanded key.
void harald_aes_free(struct evp_cipher_ctx_st *aes);
/// Encrypts a block in place. For ECB.
int harald_aes_encrypt(struct evp_cipher_ctx_st *aes, struct harald_block *block);
/// Encrypts whole blocks with an initialization vector of zeroes. Returns the last block of ciphertext: the CBC-MAC. For CBC.
int harald_aes_chain(struct evp_cipher_ctx_st *aes, const uint8_t *octets, size_t count, struct harald_block *last);
/// Encrypts a block of zeroes to `mask`, and then `count` octets from `input` to `output`, with a key stream that begins at the block `first`. For
/// CTR.
int harald_aes_stream(
    struct evp_cipher_ctx_st *aes, struct harald_block first, struct harald_block *mask, const uint8_t *input, size_t count, uint8_t *output
);

/// Computes AES-CMAC (RFC 4493).
int harald_aes_cmac(struct harald_block key, const uint8_t *octets, size_t count, struct harald_block *code);
/// Computes SHA-256, 32 octets.
int harald_sha256(const void *octets, size_t count, uint8_t *digest);
/// Computes HMAC with SHA-256 (RFC 2104), 32 octets.
int harald_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *octets, size_t count, uint8_t *code);

/// Creates a private key from 32 octets, most significant first. Returns NULL also if the number is not between 1 and the order of the curve.
struct bignum_st *harald_p256_create(const uint8_t *octets);
/// Clears and frees a private key.
void harald_p256_free(struct bignum_st *key);
/// Computes the public key: both coordinates, 64 octets.
int harald_p256_public(const struct bignum_st *key, uint8_t *point);
/// Computes the x coordinate of the shared point, 32 octets. Returns 0 also if the peer's 64 octets are no point on the curve.
int harald_p256_agree(const struct bignum_st *key, const uint8_t *peer, uint8_t *secret);

#endif
