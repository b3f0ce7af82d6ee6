#include "grader/base/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, int k)
{
    return (x >> k) | (x << (32 - k));
}

static void add_block(struct sha256 *hash)
{
    uint32_t w[64], v[8];

    for (int i = 0; i < 16; i++) {
        const unsigned char *b = &hash->block[4 * i];
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ (a >> 3)) +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ (b >> 10));
    }
    memcpy(v, hash->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(&v[1], &v[0], 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) hash->state[i] += v[i];
}

void sha256_begin(struct sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->bytes = 0;
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
    const unsigned char *at = data;

    while (size > 0) {
        size_t used = hash->bytes % 64;
        size_t n = 64 - used < size ? 64 - used : size;
        memcpy(&hash->block[used], at, n);
        hash->bytes += n;
        at += n;
        size -= n;
        if (hash->bytes % 64 == 0) add_block(hash);
    }
}

void sha256_add_string(struct sha256 *hash, const char *string)
{
    sha256_add(hash, string, strlen(string) + 1);
}

int sha256_add_file(struct sha256 *hash, const char *path)
{
    char buffer[1 << 16];
    uint64_t size = 0;
    size_t n;
    int result;

    FILE *file = fopen(path, "rbe");
    if (file == NULL) return -1;
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
        sha256_add(hash, buffer, n);
        size += n;
    }
    result = ferror(file) ? -1 : 0;
    fclose(file);
    sha256_add(hash, &size, sizeof size);
    return result;
}

void sha256_end(struct sha256 *hash, char text[SHA256_TEXT_SIZE])
{
    uint64_t bits = hash->bytes * 8;
    unsigned char length[8];

    sha256_add(hash, "\x80", 1);
    while (hash->bytes % 64 != 56) sha256_add(hash, "", 1);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(&text[8 * i], 9, "%08x", hash->state[i]);
}
