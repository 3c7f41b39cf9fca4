#include <stdio.h>
#include "server.h"
#ifdef X
# include "sub/dir.h"
#define CONFIGURED 1
#endif

#define MAX_LEN 10
#define MIN(a, b) \
    ((a) < (b) ? (a) : (b))

typedef unsigned long ulong_t;
typedef struct node {
    struct node *next;
    int value;
} node_t;
typedef struct { int a; } anon_t;
typedef int (*callback)(void *, int);

struct plain {
    int x;
};
struct forward;
union both { int i; float f; };
enum color { RED, GREEN = 2, BLUE };

extern int external;
static int counter = 0, other;
const char *names[] = { "a", "{", "b" };
struct plain instance = { 1 };

int prototype(int a, char *b);
static void later(void);

static int
add(int a, int b)
{
    int local = a;
    return local + b;
}

node_t *make_node(int value) {
    struct local_s { int q; } s;
    return NULL;
}

static void later(void) { }

#if defined(__linux__)
void platform(void) {}
#else
void platform_other(void) {}
#endif

void (*signal_like(int sig, void (*func)(int)))(int) { return 0; }
