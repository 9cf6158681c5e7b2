#include "plugins/tasks/benchmarks/call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftlab {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
// On other machines every call is refused, and with it every program.
constexpr std::uint32_t kMachine = 0;
#endif

// System calls that a program in the sandbox cannot make: those that start processes, reach into
// the kernel's keys, modules or other processes, change what is mounted, open a connection of any
// kind, or take memory that no limit counts.
constexpr long kRefusedCalls[] = {
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_quotactl,
    SYS_acct,
    SYS_swapon,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_socket,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_memfd_create,
    SYS_mq_open};

}  // namespace

std::string call_filter() {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArchitecture = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
  constexpr auto kFlags = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArchitecture),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kRefused),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      // The numbering of x32 is another one.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kRefused),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  for (const long call : kRefusedCalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefused));
  }
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefused));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return {reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter)};
}

}  // namespace draftlab
