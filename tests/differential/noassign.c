/* SPDX-License-Identifier: MIT
 * Preloaded into mpirun of Open MPI 4.1 by ompi_map.sh. With --do-not-launch, 4.1 asks the mapper for hardware
 * locations after it has mapped and bound every rank; the rankfile mapper has no such step, so each good file
 * would end in an error. This stands in for that one call and says "done". Reading the file, matching hosts,
 * reading slots and binding happen before it and stay Open MPI's own.
 */
int orte_rmaps_base_assign_locations(void *job);

int orte_rmaps_base_assign_locations(void *job)
{
    (void)job;
    return 0;
}
