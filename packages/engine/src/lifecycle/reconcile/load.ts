/**
 * `load`: starts an agent from the saved machine that its row names in `nextFrom`, with memory or without. A memory that does
 * not load is no reason to fail: its disk is booted. The row names the machine until the write that says that the agent runs,
 * so after a kill the next pass starts from it anew, whatever VM there is.
 */
import { sentenceOf } from '@lodge/domain';
import type { Template } from '@lodge/ports';
import { findSnapshot } from '@lodge/store/snapshots';
import type { Contents, SnapshotRow } from '@lodge/store/snapshots';
import { contentsOf, findReadable, isDamage, noteDamage } from '../../saved/usable.ts';
import { bringUp, noteBoot } from './bring-up.ts';
import { tellFailedStart } from './death.ts';
import type { ReportedDeath } from './death.ts';
import { fail, keepStopped } from './end.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { hadNoRoom, noMemory, reasonOf } from './reason.ts';
import type { Reason } from './reason.ts';

/** Boots of its disk. The second one begins from scratch: a killed emulator is no reason to give up. */
const attempts = 2;

/** A machine that can be started from. */
export interface Loadable {
  readonly id: string;
  readonly template: Template;
  readonly has: Contents;
  /** Whether its memory is wanted and this host takes it. */
  readonly withMemory: boolean;
  /** Whether it was wanted, and this host does not take it. */
  readonly isForeign: boolean;
}

export async function load(pass: Pass): Promise<void> {
  const { agent, deps } = pass;
  await endOwn(pass);
  const found = await findLoadable(pass, agent.nextFrom!, agent.nextMemory);
  if (typeof found === 'string') return giveUp(pass, new StepFailed(new Error(found), false), null);
  if (found.isForeign) await noteNoMemory(pass, { missing: false, foreign: true });
  if (found.withMemory && (await loadMemory(pass, found)) === 'ended') return;
  await noteBoot(pass, false);
  const { id: saved, template, has } = found;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const deadline = AbortSignal.timeout(deps.bounds.provisionMs);
      await pass.inSlot('cold', () => bringUp(pass, { from: 'boot', saved, has, template, deadline }));
      return;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      pass.logToOperator('warn', 'boot of a saved machine failed', { err: error.cause, attempt });
      const death = await tellFailedStart(pass, error);
      if (isDamage(error.cause)) await tellDamage(pass, saved);
      else if (attempt < attempts && !error.timedOut) continue;
      return giveUp(pass, error, death);
    }
  }
}

/** Ends a machine of the agent's own: that of before a restore, or of a start that was cut short. */
async function endOwn(pass: Pass): Promise<void> {
  const { deps, id, vm } = pass;
  if (vm === null || vm.state === 'disk-only' || vm.state === 'suspended') return;
  await pass.giveUpAddress();
  try {
    await pass.within(deps.bounds.removeMs, () => deps.endings.remove(id, { keepDisk: true }));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    // The start supersedes the rest of it.
    pass.logToOperator('warn', 'the VM to be replaced could not be taken away yet', { err: error.cause });
  }
}

/** Returns the machine, or why nothing can be started from it. `memory`: whether its memory is wanted. */
export async function findLoadable(pass: Pass, id: string, memory: boolean): Promise<Loadable | string> {
  const { deps } = pass;
  const saved = await findReadable(deps.driver, id);
  if (saved === null) {
    await tellDamage(pass, id);
    return 'the saved machine is not there';
  }
  const template = await deps.templates.get(saved.templateId);
  if (template === null) return 'the template of the saved machine is gone';
  const wanted = memory && saved.memory;
  const withMemory = wanted && saved.loads === 'memory';
  const has = contentsOf(await rowOf(pass, id));
  return { id, template, has, withMemory, isForeign: wanted && !withMemory };
}

/** Resumes its memory. `disk`: that did not load, and its disk is next. */
async function loadMemory(pass: Pass, { id: saved, template, has }: Loadable): Promise<'ended' | 'disk'> {
  const { agent, deps } = pass;
  if (agent.status === 'error') await noteBoot(pass, false);
  try {
    const deadline = AbortSignal.timeout(deps.bounds.restoreMs);
    await bringUp(pass, { from: 'snapshot', saved, has, template, deadline });
    return 'ended';
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'memory of a saved machine did not load', { err: error.cause });
    const death = await tellFailedStart(pass, error);
    if (hadNoRoom(error)) {
      await giveUp(pass, error, death);
      return 'ended';
    }
    if (isDamage(error.cause)) await tellDamage(pass, saved);
    await noteNoMemory(pass, noMemory(error));
    return 'disk';
  }
}

/** Writes that its disk is started from here on: a memory that failed once is not tried again after a kill. */
async function noteNoMemory(
  pass: Pass,
  data: { readonly missing: boolean; readonly foreign?: boolean },
): Promise<void> {
  const event = { type: 'agent.restore_failed', data } as const;
  await pass.observe({ status: 'provisioning', nextMemory: false, vmAddress: null, event });
}

async function tellDamage(pass: Pass, id: string): Promise<void> {
  const row = await rowOf(pass, id);
  if (row !== undefined) await noteDamage(pass.deps.database, row, 'a part of it is not as it was saved.');
}

/** Undefined when the snapshot was deleted, whose machine the agent's row keeps. */
const rowOf = ({ deps, agent }: Pass, id: string): Promise<SnapshotRow | undefined> =>
  deps.database.repeatable((db) => findSnapshot(db, agent.accountId, id));

/** Ends a start for which nothing else is left. The row goes on naming the machine: a later start tries it again. */
async function giveUp(pass: Pass, failed: StepFailed, death: ReportedDeath | null): Promise<void> {
  const { agent } = pass;
  const hasNoRoom = hadNoRoom(failed);
  if (agent.operation?.kind === 'restore' && agent.restoreBack !== null && !hasNoRoom) {
    await bringBack(pass, agent.restoreBack);
    return;
  }
  if (hasNoRoom && agent.acknowledged) {
    await keepStopped(pass, { code: 'insufficient_capacity', message: 'The host has no room for this VM.' });
    return;
  }
  await fail(pass, reasonOf(failed, fallback(pass), death));
}

/** Ends a restore: the present of before it comes back, by the next pass. */
async function bringBack(pass: Pass, present: string): Promise<void> {
  const why = 'neither its memory nor its disk could be started';
  const event = { type: 'agent.restore_undone', data: { snapshot_id: pass.agent.nextFrom!, why } } as const;
  await pass.observe({
    status: 'provisioning',
    statusReason: { code: 'restore_failed', message: sentenceOf(event)!, at: new Date() },
    vmAddress: null,
    nextFrom: present,
    nextMemory: true,
    turnNote: null,
    operation: null,
    event,
  });
}

const fallback = ({ agent }: Pass): Reason =>
  agent.acknowledged
    ? { code: 'resume_failed', message: 'The agent could not be started from its snapshot.' }
    : { code: 'provisioning_failed', message: 'The VM or the runtime in it failed to start from the snapshot.' };
