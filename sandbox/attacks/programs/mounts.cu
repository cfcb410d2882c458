// Mounts file systems and changes roots, by the old system calls and by the new ones.
//
// After it: nothing was mounted, and the root is what it was.
#include "attack.h"
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    mkdir("here", 0700);
    for (const char* kind : {"tmpfs", "proc", "sysfs", "cgroup2", "overlay", "devpts"})
        attack::tried(mount(kind, "here", kind, 0, nullptr) == 0, std::string("mount ") + kind);
    attack::tried(mount("/", "here", nullptr, MS_BIND, nullptr) == 0, "mount a folder again");
    attack::tried(mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0, "make the root writable");
    attack::tried(umount2("/proc", MNT_DETACH) == 0, "take /proc away");
    attack::tried(chroot("here") == 0, "change the root");
    attack::tried(syscall(SYS_pivot_root, "here", "here") == 0, "exchange the root");
    attack::tried(syscall(428 /* open_tree */, AT_FDCWD, "/", 1) >= 0, "copy a mount");
    attack::tried(syscall(430 /* fsopen */, "tmpfs", 0) >= 0, "open a file system");
    attack::tried(syscall(SYS_open_by_handle_at, AT_FDCWD, "\x08\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0", O_RDONLY) >= 0,
                  "open a file by its number");
    return !attack::write_result();
}
