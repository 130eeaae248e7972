/* Lets ranks of MPICH give up their core while they wait. They poll UCX without a pause, which on a machine with fewer cores
 * than ranks keeps the others from working. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = progress(worker);
    if (!events)
        sched_yield();
    return events;
}
