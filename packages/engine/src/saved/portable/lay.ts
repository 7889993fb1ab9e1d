/**
 * The first start of an imported agent: a clone of the template gets the import's folders and is booted from its disk, because
 * its running runtime would still have the template's state in memory. Nothing of it is worth keeping before it runs: after a
 * kill it begins anew, as long as the row names the file.
 */
import { NamedError } from '@lodge/domain';
import type { Template, Vm } from '@lodge/ports';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guestOf } from '../../agents/guest-of.ts';
import { StepFailed } from '../../lifecycle/reconcile/pass.ts';
import type { Pass } from '../../lifecycle/reconcile/pass.ts';

/** The import's file is not on this host. */
class ImportGone extends NamedError {
  constructor() {
    super('the file of the import is gone');
  }
}

/** Puts the folders into a clone, and ends it with its disk. Rejects with `StepFailed`. */
export async function layImport(pass: Pass, template: Template, vm: Vm, deadline: AbortSignal): Promise<void> {
  const { agent, deps, id, runtime } = pass;
  const guest = guestOf(deps.driver, vm);
  await pass.within(deadline, (signal) => runtime.shutdown(guest, template.facts, signal));
  await pass.within(deadline, async (signal) => {
    const packed = await deps.portable?.files.open(agent.nextImport!);
    if (!packed) throw new ImportGone();
    const archive = createGunzip();
    const whole = pipeline(Readable.from(packed, { objectMode: false }), archive);
    whole.catch(() => undefined);
    await deps.portable!.trees.write(guest, runtime.data, archive, signal);
    await whole;
  });
  await pass.within(deps.bounds.removeMs, () => deps.endings.remove(id, { keepDisk: true }));
}

export const isImportGone = (error: StepFailed): boolean => error.cause instanceof ImportGone;
