import { restOf } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { isAlive } from '../host/process.ts';
import type { ExitWatch, Watched } from '../machine/watch.ts';
import type { QemuDriverOptions } from '../options.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import { witnessOf } from './vm-death.ts';

export interface Adopting {
  readonly options: Pick<QemuDriverOptions, 'log'>;
  readonly directory: RunDirectory;
  readonly store: SavedStore;
  readonly answers: { of(vm: Watched): Promise<unknown> };
  readonly watch: ExitWatch;
  readonly cgroups: Cgroups;
  /** Ends the VM, and leaves nothing of it. */
  readonly takeAway: () => Promise<unknown>;
}

/**
 * Watches a VM that an earlier control plane made, and ends that one's operations: a VM that was saved to rest is freed, and so
 * is one that was to take the place of the machine at rest and is not whole; a machine at rest whose place is taken is freed. A
 * dead or half-made VM stays as it is, and `list` reports it.
 */
export async function adoptVm(adopting: Adopting, record: VmRecord): Promise<void> {
  const { options, directory, store, answers, watch, cgroups, takeAway } = adopting;
  const { agentId, executionId, process, phase, isOverRest = false } = record;
  const rest = await store.rest(agentId);
  if (rest && (rest.executionId === executionId || (isOverRest && phase !== 'running'))) {
    await takeAway();
    options.log.info({ agent_id: agentId, execution_id: executionId }, 'the agent’s machine at rest is taken up');
    return;
  }
  if (rest && isOverRest) await store.drop(restOf(agentId));
  if (phase !== 'running' || process === null || !isAlive(process)) return;
  const witness = witnessOf(record, directory, cgroups);
  const vm: Watched = { agentId, executionId, process, qmp: null, witness };
  await answers.of(vm);
  watch.add(vm);
  options.log.info({ agent_id: agentId, execution_id: executionId }, 'VM adopted');
}
