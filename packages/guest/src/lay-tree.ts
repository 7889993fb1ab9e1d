/** Puts an agent's own folders into a guest whose runtime has ended. */
import { NamedError } from '@lodge/domain';
import type { Readable } from 'node:stream';
import type { GuestClient } from './client.ts';
import { maxExecTimeoutMs } from './protocol.ts';

/** Folders that move with an agent, and paths below them that belong to the template. All of them are absolute. */
export interface LaidData {
  readonly folders: readonly string[];
  readonly except: readonly string[];
}

export class TreeNotLaid extends NamedError {}

const scriptTimeoutMs = 120_000;

/**
 * Replaces the folders' contents by the archive's, except for the template's own files. Those are in the guest's memory
 * meanwhile: a guest that was cut short is useless, and another one is made.
 */
export async function layTree(
  guest: GuestClient,
  { folders, except }: LaidData,
  archive: Readable,
  signal: AbortSignal,
): Promise<void> {
  await runScript(guest, keepScript, except, signal);
  await guest.writeTree(folders, archive, { signal });
  await runScript(guest, restoreScript, except, signal);
  await guest.sync(false, { signal });
}

const kept = '/run/lodge-kept';
const keepScript = `set -eu
mkdir -p ${kept}
for path; do
  ! [ -e "$path" ] || cp -a --parents "$path" ${kept}
done`;
const restoreScript = `set -eu
for path; do
  rm -rf "$path"
  ! [ -e "${kept}$path" ] || cp -a "${kept}$path" "$path"
done
rm -rf ${kept}`;

async function runScript(guest: GuestClient, script: string, paths: readonly string[], signal: AbortSignal) {
  const argv = ['sh', '-c', script, 'sh', ...paths];
  const { exitCode, stderr } = await guest.exec(
    { argv, user: 'root', timeoutMs: Math.min(maxExecTimeoutMs, scriptTimeoutMs * guest.pace) },
    { signal },
  );
  if (exitCode !== 0) throw new TreeNotLaid(`the guest's folders were not made ready: ${stderr.slice(0, 500)}`);
}
