// Opens devices: memory, disks, terminals, the kernel's log, virtual machines; and makes device files of its own.
//
// After it: there were none but the harmless ones (null, zero, full, random, tty of nobody), and none could be made.
#include "attack.h"
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (const char* path :
         {"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/loop0",
          "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/net/tun", "/dev/vhost-net", "/dev/uinput", "/dev/console",
          "/dev/tty0", "/dev/cuse", "/dev/vsock", "/dev/hwrng", "/dev/rtc0", "/dev/watchdog", "/dev/btrfs-control"})
        attack::tried(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) >= 0, std::string("open ") + path);
    for (int number : {1, 3})  // /dev/mem and /dev/null of another name
        attack::tried(mknod("device", S_IFCHR | 0600, makedev(1, number)) == 0, "make a device file");
    attack::tried(mknod("disk", S_IFBLK | 0600, makedev(8, 0)) == 0, "make a disk");
    const int terminal = open("/dev/tty", O_RDWR);
    attack::tried(terminal >= 0 && ioctl(terminal, TIOCSTI, "\n") == 0, "type into the terminal");
    return !attack::write_result();
}
