/** Shows the browser's disk to a guest that runs. */
import type { BrowserShown } from '@lodge/ports';
import { exchangeZeroes } from '../machine/browser-device.ts';
import type { Qmp } from '../machine/qmp.ts';
import type { BrowserDisks } from '../saved/browser-disks.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';

export interface BrowsingVm {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly qmp: Qmp;
}

export async function showBrowser({ directory, record, qmp }: BrowsingVm, disks: BrowserDisks): Promise<BrowserShown> {
  const { browser: known } = record;
  if (known === undefined) return { state: 'no_device', message: null };
  const wanted = await disks.want();
  // A guest that saw a disk keeps it, even when there is a newer one.
  const name = known !== null && (await disks.has(known)) ? known : wanted;
  if (typeof name !== 'string') return name;
  // A kill from here on may leave the record without the disk, and never a disk that the record does not name.
  if (known !== name) await directory.write({ ...record, browser: name });
  await exchangeZeroes(qmp, disks.path(name));
  return { state: 'shown', message: null };
}
