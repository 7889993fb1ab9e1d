/*
 * Randomness that a copy of a process's memory cannot repeat (docs/adr/0060). Agents are clones of a running machine, so what a
 * process keeps to make random values from is copied with it. Two things end that, in every process that loads this:
 *
 *   OpenSSL keeps nothing: each of its random bytes, on every thread, is the kernel's, whose state the host renews in a clone.
 *   Who must keep something reads the generation, a counter in a page of memory that all processes of the machine share. The
 *   guest's daemon raises it while they are frozen, so no code of theirs runs between the copy and the new number.
 *
 * Built while the image is made, by a compiler without headers, which on ARM relocates no address in initialised data: there is
 * none, and no constructor. It depends on the C library alone: what else it calls it finds in the process.
 */
typedef unsigned long size_t;
typedef void *node_env;
typedef void *node_value;

extern long getrandom(void *buffer, size_t length, unsigned flags);
extern int open(const char *path, int flags, ...);
extern int close(int file);
extern void *mmap(void *address, size_t length, int protection, int flags, int file, long offset);
extern void *dlsym(void *handle, const char *name);
extern char *getenv(const char *name);

enum { page_size = 4096, read_only = 0, close_on_exec = 02000000, prot_read = 1, map_shared = 1, no_error = 0 };

/* The page with the generation; null where there is none. */
static void *generation_page(void) {
  const char *path = getenv("LODGE_GENERATION_COUNT");
  int file = open(path ? path : "/run/lodge/generation-count", read_only | close_on_exec);
  if (file < 0) return 0;
  void *page = mmap(0, page_size, prot_read, map_shared, file, 0);
  close(file);
  return page == (void *)-1 ? 0 : page;
}

static volatile unsigned *generation;

/* For OpenSSL, to which 1 is success. Draws again when the process was frozen in the midst of it. */
static int random_bytes(unsigned char *buffer, int length) {
  unsigned before;
  do {
    before = generation ? *generation : 0;
    int done = 0;
    while (done < length) {
      long got = getrandom(buffer + done, length - done, 0);
      if (got > 0) done += got; /* Less than asked for, or nothing, when a signal came. */
    }
  } while (generation && *generation != before);
  return 1;
}

static int take_seed(const void *buffer, int length) { return 1; }
static int take_entropy(const void *buffer, int length, double entropy) { return 1; }
static int always_seeded(void) { return 1; }

/* RAND_METHOD: seed, bytes, cleanup, add, pseudorand, status. */
static void *method[6];

/* Has OpenSSL use the kernel; `set_method` is its RAND_set_rand_method. May be repeated, on any thread. */
void lodge_use_kernel(int (*set_method)(const void *)) {
  if (!generation) generation = generation_page();
  method[0] = take_seed;
  method[1] = random_bytes;
  method[3] = take_entropy;
  method[4] = random_bytes;
  method[5] = always_seeded;
  set_method(method);
}

/*
 * Node's entry to an addon, called on each thread that loads it: exports the page as an ArrayBuffer, or nothing. Null is every
 * library that is loaded, and Node's executable exports OpenSSL.
 */
node_value napi_register_module_v1(node_env env, node_value exports) {
  int (*set_method)(const void *) = dlsym(0, "RAND_set_rand_method");
  int (*wrap)(node_env, void *, size_t, void *, void *, node_value *) = dlsym(0, "napi_create_external_arraybuffer");
  void *page = generation_page();
  node_value buffer;
  if (set_method) lodge_use_kernel(set_method);
  if (!wrap || !page || wrap(env, page, page_size, 0, 0, &buffer) != no_error) return exports;
  return buffer;
}
