/**
 * The step `save`: the machine is saved as it is, and the agent goes on as it was.
 *
 *   running, with memory:  the turn in hand ends, the gateway takes no new one, the machine is saved, the gateway opens again
 *   paused:                the machine is saved as it stands, and stays paused
 *   stopped, error:        its machine at rest is saved, of which nothing is copied
 *   without memory:        the disk is saved, whatever the machine does; no turn is waited for
 *
 * The row becomes ready, or failed, in the write that ends the operation. A kill before that write leaves the operation, and the
 * next pass begins again: the driver saves the same id once, a machine that stands still goes on, and a gateway that is
 * suspended joins its suspension.
 */
import { restOf } from '@lodge/ports';
import type { RuntimeFacts, Saving } from '@lodge/ports';
import { endSaving, failSaving, findSnapshot, savingOf } from '@lodge/store/snapshots';
import type { Contents, Saved, SnapshotRow } from '@lodge/store/snapshots';
import { StepFailed } from '../lifecycle/reconcile/pass.ts';
import type { Pass } from '../lifecycle/reconcile/pass.ts';
import type { ReadOutcome } from './portable/exports.ts';
import { readForExport } from './portable/read-tree.ts';
import { failed, whileQuiet } from './quiet.ts';
import type { Failure } from './quiet.ts';
import { contentsOf, findReadable } from './usable.ts';

type SavedRow = Pick<SnapshotRow, 'id' | 'memory' | 'kind'>;

/** The outcome of a save. */
export type SaveOutcome = { readonly saved: Saved; readonly stillMs: number } | Failure;

export interface SaveOptions {
  /**
   * A saved machine that is the agent's present one, because its next start begins from it. Without it the agent's own
   * machine is the present one.
   */
  readonly present?: string | null;
  /** Whether its machine is at rest, whatever the agent's status says. */
  readonly atRest?: boolean;
}

export async function save(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  const row = await deps.database.repeatable((db) => savingOf(db, id));
  if (row === undefined) {
    if (await endExport(pass)) return;
    // An export that was cut short left the gateway closed.
    if (agent.status === 'running') await whileQuiet(pass, async () => undefined);
    const event = { type: 'agent.operation_ended', data: { kind: 'snapshot', ...pass.because } } as const;
    await pass.observe({ operation: null, event });
    return;
  }
  const atRest = agent.status === 'stopped' || agent.status === 'error';
  const outcome = await savePresent(pass, row, { present: atRest ? agent.nextFrom : null });
  const of = { snapshot_id: row.id, kind: row.kind, name: row.name };
  if ('why' in outcome) {
    const { why, code } = outcome;
    await pass.observe({ operation: null, event: { type: 'snapshot.failed', data: { ...of, why } } }, async (trx) => {
      await failSaving(trx, id, why, code);
    });
    return;
  }
  const { saved, stillMs } = outcome;
  const data = { ...of, memory: saved.memory, still_ms: Math.round(stillMs), ...pass.took };
  await pass.observe({ operation: null, event: { type: 'snapshot.created', data } }, async (trx) => {
    await endSaving(trx, row.id, saved);
  });
  pass.logToOperator('info', 'agent saved', { bytes: saved.bytes, ...data });
}

/** Reads the agent for the export that waits for it, and ends the operation; false when none does. */
async function endExport(pass: Pass): Promise<boolean> {
  const { portable } = pass.deps;
  const pending = (pass.agent.status === 'running' && portable?.exports.take(pass.id)) || null;
  if (portable === null || pending === null) return false;
  let outcome: ReadOutcome = { why: 'Its machine ended.', isBusy: false };
  try {
    outcome = await readForExport(pass, portable, pending);
    const event =
      outcome === null
        ? ({ type: 'agent.exported', data: pass.took } as const)
        : ({ type: 'agent.export_failed', data: { why: outcome.why } } as const);
    await pass.observe({ operation: null, event });
  } finally {
    pending.end(outcome);
  }
  return true;
}

/**
 * Saves the agent's present machine under the row's id, and lets the agent go on as it was. Writes nothing. May be repeated.
 * Throws `LookAgain` when the VM ended meanwhile.
 */
export async function savePresent(
  pass: Pass,
  row: SavedRow,
  { present = null, atRest = false }: SaveOptions = {},
): Promise<SaveOutcome> {
  if (present !== null) return copyPresent(pass, row, present);
  const isAwake = !atRest && pass.agent.status === 'running';
  if (!row.memory) return saveAsItStands(pass, row, atRest);
  return withRoom(pass, () => (isAwake ? saveAwake(pass, row) : saveAsItStands(pass, row, atRest)));
}

const noRoom = { why: 'The host has no room for it.', code: 'insufficient_capacity' } as const;

/** Saves memory, where the host has room for it. */
async function withRoom(pass: Pass, work: () => Promise<SaveOutcome>): Promise<SaveOutcome> {
  const giveRoomBack = await pass.holdRoom();
  if (giveRoomBack === null) return noRoom;
  try {
    return await work();
  } finally {
    giveRoomBack();
  }
}

/** Saves a running VM between two turns. */
const saveAwake = (pass: Pass, row: SavedRow): Promise<SaveOutcome> =>
  whileQuiet(pass, (facts) => saveWith(pass, row, facts));

/** Saves a VM that is frozen or at rest, or the disk of one that runs. */
async function saveAsItStands(pass: Pass, row: SavedRow, atRest: boolean): Promise<SaveOutcome> {
  const template = await pass.template();
  if (template === null) return failed('The template that its disk was made from is gone.');
  return saveWith(pass, row, template.facts, atRest);
}

async function saveWith(
  pass: Pass,
  { id, memory, kind }: SavedRow,
  facts: RuntimeFacts,
  atRest = false,
): Promise<SaveOutcome> {
  const { deps, agent } = pass;
  // A snapshot of memory outlives the incarnation that it was made of.
  const executionId = pass.vm?.executionId ?? agent.executionId ?? '';
  let saving: Saving;
  try {
    // Forks start from theirs at once, and none of them needs it afterwards.
    const request = {
      id,
      memory,
      facts,
      listed: workspaceFolder,
      ...(kind === 'fork' && ({ isHasty: true } as const)),
    };
    saving = await pass.inSlot('save', () =>
      pass.within(deps.bounds.snapshotMs, (signal) => deps.driver.save(agent.id, executionId, request, signal)),
    );
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!atRest && (agent.status === 'running' || agent.status === 'paused')) await pass.checkStillThere(error);
    pass.logToOperator('warn', 'VM not saved', { err: error.cause });
    if (error.isVm('disk_full')) return noRoom;
    if (error.isVm('gone') || error.isVm('disk_missing')) return failed('Its disk is not on this host.');
    return failed(error.timedOut ? 'It took too long.' : 'Its machine could not be saved.');
  }
  return outcomeOf(pass, id, agent, saving.ms);
}

/** The folder of a guest whose listing is kept with a snapshot. */
export const workspaceFolder = '/workspace';

/** Names the saved machine that the agent's next start begins from once more. */
async function copyPresent(pass: Pass, { id }: Pick<SnapshotRow, 'id'>, present: string): Promise<SaveOutcome> {
  const { agent, deps } = pass;
  try {
    await pass.within(deps.bounds.snapshotMs, () => deps.driver.copySaved(present, id));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'saved machine not copied', { err: error.cause });
    return error.isVm('disk_full') ? noRoom : failed('The snapshot that it starts from next is gone.');
  }
  const has =
    present === restOf(agent.id)
      ? agent
      : await deps.database.repeatable((db) => findSnapshot(db, agent.accountId, present));
  return outcomeOf(pass, id, has, 0);
}

async function outcomeOf(
  { deps, agent }: Pass,
  id: string,
  has: Contents | undefined,
  stillMs: number,
): Promise<SaveOutcome> {
  const found = await findReadable(deps.driver, id);
  if (found === null) return failed('Its machine could not be saved.');
  const { memory, loads, bytes, diskBytes, heldBytes, templateId } = found;
  const runtimeVersion = deps.templates.versionOf(templateId) ?? agent.runtimeVersion;
  const contents = contentsOf(has);
  return { saved: { memory, loads, bytes, diskBytes, heldBytes, templateId, runtimeVersion, ...contents }, stillMs };
}
