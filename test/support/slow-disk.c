// Preloaded into a server: every sync of a file takes as many milliseconds longer as the file that
// SLOW_DISK_CONTROL names says. While it names any, the log SLOW_DISK_LOG gets a line for each sync and
// each sleep of the main thread, which is how SQLite waits for a lock.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int delay_ms(void) {
  const char *path = getenv("SLOW_DISK_CONTROL");
  if (path == NULL) return 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[16] = {0};
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? atoi(text) : 0;
}

static void note(const char *what) {
  if (syscall(SYS_gettid) != getpid()) return;
  const char *path = getenv("SLOW_DISK_LOG");
  if (path == NULL) return;
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  ssize_t written = write(file, what, strlen(what));
  (void)written;
  close(file);
}

static void pause_for(int milliseconds) {
  struct timespec left = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  while (syscall(SYS_nanosleep, &left, &left) != 0) {
  }
}

static int slow_sync(const char *name, int file) {
  int milliseconds = delay_ms();
  if (milliseconds > 0) {
    note("sync\n");
    pause_for(milliseconds);
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(file);
}

int fsync(int file) { return slow_sync("fsync", file); }

int fdatasync(int file) { return slow_sync("fdatasync", file); }

int nanosleep(const struct timespec *wanted, struct timespec *left) {
  if (delay_ms() > 0) note("sleep\n");
  int (*real)(const struct timespec *, struct timespec *) =
      (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
  return real(wanted, left);
}

int usleep(useconds_t microseconds) {
  if (delay_ms() > 0) note("sleep\n");
  int (*real)(useconds_t) = (int (*)(useconds_t))dlsym(RTLD_NEXT, "usleep");
  return real(microseconds);
}
