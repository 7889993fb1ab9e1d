/**
 * The file that a qcow2 file lies over, by the name in its header. The name is changed in place, in one write, and data
 * stays where it is. Source: QEMU's docs/interop/qcow2.txt, and `qcow2_update_header`, which writes the name last.
 */
import { execFile } from 'node:child_process';
import { open, readFile, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import { replaceFileForGood, syncFile } from '../host/files.ts';
import { qcow2Magic } from './disks.ts';

const run = promisify(execFile);
const longestName = 1023;
/** QEMU's smallest cluster; header, extensions and name fit into the first. */
const headBytes = 4096;
export const journalName = 'disk.moving';

/** Returns null when the file is absent, is no qcow2 file, or lies over none. */
export async function backingOf(path: string): Promise<string | null> {
  const file = await ifThere(open(path, 'r'));
  if (!file) return null;
  try {
    const { name } = await readHead(file);
    return name === '' ? null : name;
  } finally {
    await file.close();
  }
}

/** Changes the name of the file beneath. Nobody may be using the file. */
export async function repoint(path: string, backing: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { head, at, name } = await readHead(file);
    if (name === '') throw new VmError('failed', `${path} lies over nothing`);
    const next = Buffer.from(backing);
    const before = Buffer.byteLength(name);
    const end = at + Math.max(before, next.length);
    const isFree = head.subarray(at + before, end).every((byte) => byte === 0);
    if (next.length > longestName || end > head.length || !isFree) {
      throw new VmError('failed', `the header of ${path} has no room for ${backing}`);
    }
    head.fill(0, at, end);
    next.copy(head, at);
    head.writeUInt32BE(next.length, 16);
    await file.write(head, 0, end, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Puts the disk of a VM that does not run over `backing`, and completes a move that a kill cut short. A snapshot identifies
 * its disk by the time of the last write, so that time is kept: a journal beside the disk has it until all is done.
 */
export async function moveDisk(disk: string, backing: string): Promise<void> {
  const journal = join(dirname(disk), journalName);
  const text = await readFile(journal, 'utf8').catch(() => '');
  const left = /^\d{1,12}\.\d{9}$/.test(text) ? text : null;
  const now = await backingOf(disk);
  if (now === null || (left === null && now === backing)) return;
  const written = left ?? (await writeJournal(disk, journal));
  await repoint(disk, backing);
  await run('touch', ['--no-create', '-m', '-d', `@${written}`, '--', disk], { timeout: 60_000 });
  await syncFile(disk);
  await rm(journal);
}

/** Seconds of the last write, with nanoseconds, which Node's own `utimes` rounds. */
async function writeJournal(disk: string, journal: string): Promise<string> {
  const { mtimeNs } = await stat(disk, { bigint: true });
  const written = `${mtimeNs / 1_000_000_000n}.${String(mtimeNs % 1_000_000_000n).padStart(9, '0')}`;
  await replaceFileForGood(journal, written);
  return written;
}

async function readHead(file: FileHandle): Promise<{ head: Buffer; at: number; name: string }> {
  const head = Buffer.alloc(headBytes);
  const { bytesRead } = await file.read(head, 0, headBytes, 0);
  if (bytesRead < 32 || head.readUInt32BE(0) !== qcow2Magic) return { head, at: 0, name: '' };
  const at = Number(head.readBigUInt64BE(8));
  const length = head.readUInt32BE(16);
  if (at + length > headBytes)
    throw new VmError('failed', 'the header of a disk names what it lies over too far behind');
  return { head, at, name: head.toString('utf8', at, at + length) };
}

/** A copy of a qcow2 file's first bytes without the name of the file beneath. Anything else stays as it is. */
export function withoutBackingName(first: Buffer): Buffer {
  const copy = Buffer.from(first);
  if (copy.length < headBytes || copy.readUInt32BE(0) !== qcow2Magic) return copy;
  const at = Number(copy.readBigUInt64BE(8));
  const end = at + copy.readUInt32BE(16);
  if (at < 24 || end > headBytes) return copy;
  copy.fill(0, at, end);
  copy.fill(0, 16, 20);
  return copy;
}
