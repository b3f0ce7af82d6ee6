#include "grader/build/format.h"
#include "grader/base/messages.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of so many bytes of a text not more than one is a control character. A compiler ignores a 0. */
enum { BYTES_TO_A_CONTROL = 64 };

/* A format that begins with `magic`, `at` bytes behind the start; `inside`: a name that it then has
 * somewhere in it, NULL: none. The first row that fits is taken. */
struct format {
    const char *magic;
    size_t size, at;
    const char *inside;
    const char *what;
};

#define MAGIC(bytes) bytes, sizeof bytes - 1, 0
#define A_SAVED_PAGE                                                                               \
    N_("it is a web page (HTML): download the file itself, not the page that shows it")

static const struct format formats[] = {
    {MAGIC("\177ELF"), NULL, N_("it is what a compiler made (ELF), not its source")},
    {MAGIC("!<arch>\n"), NULL, N_("it is a library of compiled files, not their source")},
    {MAGIC("BC\xc0\xde"), NULL, N_("it is what a compiler made (LLVM bitcode), not its source")},
    {MAGIC("\xcf\xfa\xed\xfe"), NULL, N_("it is a program of macOS (Mach-O), not its source")},
    {MAGIC("MZ"), "This program cannot be run in DOS mode",
     N_("it is a program of Windows (EXE), not its source")},
    {MAGIC("PK\3\4"), "word/document.xml", N_("it is a Word document (DOCX)")},
    {MAGIC("PK\3\4"), "opendocument.text", N_("it is an OpenDocument text (ODT)")},
    {MAGIC("PK\3\4"), NULL, N_("it is a ZIP archive")},
    {MAGIC("\xd0\xcf\x11\xe0"), NULL, N_("it is a document of Microsoft Office (DOC)")},
    {MAGIC("{\\rtf"), NULL, N_("it is a document with formatting (RTF)")},
    {MAGIC("%PDF-"), NULL, N_("it is a PDF document")},
    {MAGIC("\x1f\x8b"), NULL, N_("it is an archive compressed by gzip")},
    {MAGIC("BZh"), "1AY&SY", N_("it is an archive compressed by bzip2")},
    {MAGIC("\xfd"
           "7zXZ"),
     NULL, N_("it is an archive compressed by xz")},
    {MAGIC("\x28\xb5\x2f\xfd"), NULL, N_("it is an archive compressed by zstd")},
    {MAGIC("7z\xbc\xaf\x27\x1c"), NULL, N_("it is a 7z archive")},
    {MAGIC("Rar!\x1a\x07"), NULL, N_("it is a RAR archive")},
    {"ustar", 5, 257, NULL, N_("it is a tar archive")},
    {MAGIC("\x89PNG"), NULL, N_("it is a picture (PNG)")},
    {MAGIC("\xff\xd8\xff"), NULL, N_("it is a picture (JPEG)")},
    {MAGIC("version https://git-lfs"), NULL,
     N_("it is what Git LFS keeps in place of the file: hand in the file itself")},
    {MAGIC("<!doctype html"), NULL, A_SAVED_PAGE},
    {MAGIC("<html"), NULL, A_SAVED_PAGE},
    {MAGIC("\xff\xfe\0\0"), NULL, N_("it is saved as UTF-32, and the compiler reads UTF-8")},
    {MAGIC("\0\0\xfe\xff"), NULL, N_("it is saved as UTF-32, and the compiler reads UTF-8")},
    {MAGIC("\xff\xfe"), NULL, N_("it is saved as UTF-16, and the compiler reads UTF-8")},
    {MAGIC("\xfe\xff"), NULL, N_("it is saved as UTF-16, and the compiler reads UTF-8")},
};

static bool is_format(const struct format *format, const char *bytes, size_t size)
{
    if (size < format->at + format->size) return false;
    const char *at = bytes + format->at;
    /* HTML's words are written in either case, everything else as it stands. */
    if (format->magic[0] == '<' ? strncasecmp(at, format->magic, format->size) != 0
                                : memcmp(at, format->magic, format->size) != 0)
        return false;
    return format->inside == NULL ||
           memmem(bytes, size, format->inside, strlen(format->inside)) != NULL;
}

/* Without the mark at its beginning UTF-16 is told by the zeros: each second byte, as long as the
 * text is English. */
static bool is_unmarked_utf16(const char *bytes, size_t size)
{
    size_t zeros[2] = {0, 0};

    for (size_t i = 0; i < size; i++) zeros[i % 2] += bytes[i] == '\0';
    const size_t more = zeros[0] > zeros[1] ? zeros[0] : zeros[1];
    return size >= 4 && zeros[0] + zeros[1] == more && more >= size / 2 - size / 8;
}

static bool is_control(char byte)
{
    return ((unsigned char)byte < ' ' && strchr("\t\n\v\f\r\033", byte) == NULL) || byte == '\0' ||
           byte == '\177';
}

bool format_is_no_source(const char *bytes, size_t size, char *why, size_t why_size)
{
    size_t controls = 0, first = size;
    unsigned line = 1;

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (!is_format(&formats[i], bytes, size)) continue;
        snprintf(why, why_size, "%s", _(formats[i].what));
        return true;
    }
    for (size_t i = size; i-- > 0;) {
        if (!is_control(bytes[i])) continue;
        controls++;
        first = i;
    }
    if (controls * BYTES_TO_A_CONTROL <= size) return false;
    if (is_unmarked_utf16(bytes, size)) {
        snprintf(why, why_size, "%s", _("it is saved as UTF-16, and the compiler reads UTF-8"));
        return true;
    }
    for (size_t i = 0; i < first; i++) line += bytes[i] == '\n';
    snprintf(why, why_size, _("it is no text: line %u holds a byte that is %u"), line,
             (unsigned)(unsigned char)bytes[first]);
    return true;
}
