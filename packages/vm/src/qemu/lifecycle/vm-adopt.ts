import type { Cgroups } from '../host/cgroup.ts';
import { isAlive } from '../host/process.ts';
import type { ExitWatch, Watched } from '../machine/watch.ts';
import type { QemuDriverOptions } from '../options.ts';
import type { Backups } from '../saved/backups.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import { witnessOf } from './vm-death.ts';

export interface Adopting {
  readonly options: Pick<QemuDriverOptions, 'log'>;
  readonly directory: RunDirectory;
  readonly backups: Backups;
  readonly answers: { of(vm: Watched): Promise<unknown> };
  readonly watch: ExitWatch;
  readonly cgroups: Cgroups;
  /** Ends the VM and keeps its snapshot. */
  readonly takeAway: () => Promise<unknown>;
}

/**
 * Watches a VM that an earlier control plane made, and ends that one's operations. A suspend that was written completes, as a
 * suspended or backed-up VM. A start that did not use the snapshot up is undone. A dead or half-made VM stays as it is, and
 * `list` reports it.
 */
export async function adoptVm(adopting: Adopting, record: VmRecord): Promise<void> {
  const { options, directory, backups, answers, watch, cgroups, takeAway } = adopting;
  const { agentId, executionId, process, phase, from } = record;
  const alive = process !== null && isAlive(process);
  const unused = (phase === 'running' && !alive) || (phase === 'creating' && from === 'snapshot');
  if (unused && (await directory.snapshot.exists())) {
    await takeAway();
    options.log.info({ agent_id: agentId, execution_id: executionId }, 'the VM’s snapshot is taken up');
  }
  if ((unused || phase === 'suspended') && (await directory.snapshot.hasData())) await backups.put(directory);
  if (phase !== 'running' || !alive) return;
  const witness = witnessOf(record, directory, cgroups);
  const vm: Watched = { agentId, executionId, process, qmp: null, witness };
  await answers.of(vm);
  watch.add(vm);
  options.log.info({ agent_id: agentId, execution_id: executionId }, 'VM adopted');
}
