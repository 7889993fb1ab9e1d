/** An agent's own folders on their way from one guest to another, as a tar archive on the host. */
import { createReadStream, createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { maxExecTimeoutMs } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { CarriedData } from '@lodge/ports';
import { freeSpace } from '../host/capacity.ts';
import { syncFile } from '../host/files.ts';

const scriptTimeoutMs = 120_000;

/** Writes the folders' contents to `path`, on the disk when it resolves; `floorMib` of the host's disk stay free. */
export async function saveData(
  guest: GuestClient,
  { folders, floorMib }: CarriedData & { readonly floorMib: number },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { freeMib } = await freeSpace(dirname(path));
  const archive = await guest.readTree(folders, { signal });
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await pipeline(archive, atMost((freeMib - floorMib) * 2 ** 20), file, { signal });
  await syncFile(path);
}

/**
 * Replaces the folders' contents by the archive's, except for the template's own files. Those are in the guest's memory
 * meanwhile: a guest that was cut short is useless, and another one is made.
 */
export async function loadData(
  guest: GuestClient,
  { folders, except }: CarriedData,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await runScript(guest, keepScript, except, signal);
  const archive = createReadStream(path);
  try {
    await guest.writeTree(folders, archive, { signal });
  } finally {
    archive.destroy();
  }
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
  if (exitCode !== 0) throw new VmError('failed', `the guest's folders were not made ready: ${stderr.slice(0, 500)}`);
}

/** Bounds a stream, because a guest may send without end. */
function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new VmError('disk_full', "no room for what is in the guest's folders"));
      else done(null, chunk);
    },
  });
}
