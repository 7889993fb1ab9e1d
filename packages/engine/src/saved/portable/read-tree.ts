/**
 * The part of an export that needs the agent quiet: its turn in hand ends, its gateway takes no new one, its folders are read
 * into a file on the host, and the gateway opens again. So no slow client keeps an agent waiting. It is the operation `snapshot`
 * without a row of a snapshot; a kill leaves that operation, and the next pass finds nobody who waits, and ends it.
 */
import { StepFailed } from '../../lifecycle/reconcile/pass.ts';
import type { Pass } from '../../lifecycle/reconcile/pass.ts';
import type { PendingExport, ReadOutcome } from './exports.ts';
import { whileQuiet } from '../quiet.ts';
import type { PortableParts } from './parts.ts';
import { writeFolders } from './write-folders.ts';

const noRoom = { why: 'The host has no room for it.', isBusy: false };

export async function readForExport(pass: Pass, parts: PortableParts, pending: PendingExport): Promise<ReadOutcome> {
  const usage = await pass.deps.driver.usage(pass.id);
  const mib = usage?.diskMib ?? 0;
  const giveRoomBack = await pass.deps.disk.holdRoom(mib);
  if (giveRoomBack === null) return noRoom;
  try {
    const outcome = await whileQuiet(pass, () => readTree(pass, parts, pending));
    return outcome && 'code' in outcome ? { why: outcome.why, isBusy: outcome.code === 'agent_busy' } : outcome;
  } finally {
    giveRoomBack();
  }
}

async function readTree(pass: Pass, parts: PortableParts, pending: PendingExport): Promise<ReadOutcome> {
  const { deps, runtime, guest, agent } = pass;
  const folders = { guest, data: runtime.data, diskGib: agent.machine?.diskGib ?? 0 };
  const bound = AbortSignal.any([AbortSignal.timeout(deps.bounds.upgradeMs), pending.signal]);
  try {
    await pass.within(bound, (signal) => writeFolders(parts, folders, pending.scratch, signal));
    return null;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'folders of a guest not read for an export', { err: error.cause });
    return { why: error.timedOut ? 'It took too long.' : 'Its files could not be read.', isBusy: false };
  }
}
