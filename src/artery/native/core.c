/* Which sources this library was compiled from. */

#ifndef ARTERY_DIGEST
#define ARTERY_DIGEST unknown
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *artery_digest(void) { return TEXT(ARTERY_DIGEST); }
