/* SPDX-License-Identifier: MIT */
#include "unpack/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "the system calls of this architecture are not listed"
#endif

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define ALLOW(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), RETURN(SECCOMP_RET_ALLOW)

/* Libraries that ask for more get an error. */
static bool filter_calls(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        ALLOW(recvmsg),
        ALLOW(sendmsg),
        ALLOW(read),
        ALLOW(write),
        ALLOW(pread64),
        ALLOW(lseek),
        ALLOW(fstat),
        ALLOW(close),
        ALLOW(mmap),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(mprotect),
        ALLOW(madvise),
        ALLOW(brk),
        ALLOW(memfd_create),
        ALLOW(ftruncate),
        ALLOW(futex),
        ALLOW(clock_gettime),
        ALLOW(gettimeofday),
        ALLOW(getrandom),
        ALLOW(getpid),
        ALLOW(gettid),
        ALLOW(tgkill),
        ALLOW(sched_yield),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigaction),
        ALLOW(rt_sigreturn),
        ALLOW(sigaltstack),
        ALLOW(exit),
        ALLOW(exit_group),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_newfstatat, 0, 1), /* fstat of glibc */
        RETURN(SECCOMP_RET_ALLOW),
#endif
        RETURN(SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static bool limit(int resource, rlim_t value)
{
    const struct rlimit both = {value, value};

    return setrlimit((__rlimit_resource_t)resource, &both) == 0;
}

bool sandbox_enter(void)
{
    const rlim_t files_max = 16;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const rlim_t memory_max = RLIM_INFINITY; /* shadow memory is large */
#else
    const rlim_t memory_max = (rlim_t)2 << 30;
#endif

    return limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, files_max) &&
           limit(RLIMIT_DATA, memory_max) && filter_calls();
}
