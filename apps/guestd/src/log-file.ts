/**
 * A log of bounded size in a folder of its own: `current`, which is appended to, and up to `keptSegments` closed segments named
 * by the offset of their first byte (`0000000000000000.log`). Offsets count from the log's beginning for ever, so a reader that
 * comes back after a rotation misses nothing that is still kept.
 *
 * `current` may be written by another process (the runtime, which outlives this daemon), so it is never renamed: rotation
 * copies and truncates it, which a writer that appends does not notice. A line written in between is lost; a kill in between
 * leaves the copied bytes in both places. The bound is a soft one, as long as a rotation takes.
 */
import { appendFileSync, mkdirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { copyFile, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogChunk } from '@lodge/guest';
import { systemCode } from './errors.ts';

const segmentBytes = 1024 * 1024;
const keptSegments = 4;
const checkAfterMs = 1_000;

interface Segment {
  readonly path: string;
  readonly start: number;
  readonly size: number;
}

export class LogFile {
  readonly current: string;
  private readonly folder: string;
  private rotating: Promise<void> | null = null;

  constructor(folder: string) {
    this.folder = folder;
    this.current = join(folder, 'current');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    appendFileSync(this.current, '');
  }

  /** For lines of this process. Synchronous, so that the line before a crash is there. */
  append(line: string): void {
    appendFileSync(this.current, `${line}\n`);
    if (statSync(this.current).size > segmentBytes) void this.rotate();
  }

  /** Keeps the log bounded while another process writes it. Costs nothing while nobody does. */
  watch(): FSWatcher {
    let checkDue = false;
    return watch(this.current, () => {
      if (checkDue) return;
      checkDue = true;
      setTimeout(() => {
        checkDue = false;
        void this.rotate();
      }, checkAfterMs);
    });
  }

  async read(offset: number, limitBytes: number): Promise<LogChunk> {
    await this.rotating;
    const segments = await this.segments();
    const from = Math.max(offset, segments[0]?.start ?? 0);
    const parts: Buffer[] = [];
    let wanted = limitBytes;
    let at = from;
    for (const segment of segments) {
      if (wanted === 0 || at >= segment.start + segment.size) continue;
      const part = await readPart(segment.path, at - segment.start, wanted);
      parts.push(part);
      at += part.length;
      wanted -= part.length;
    }
    const bytes = Buffer.concat(parts);
    const lines = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    const chunk = lines.length === 0 && bytes.length === limitBytes ? bytes : lines;
    return { text: chunk.toString(), nextOffset: Math.min(from, endOf(segments)) + chunk.length };
  }

  private rotate(): Promise<void> {
    this.rotating ??= this.rotateNow()
      .catch(() => undefined)
      .finally(() => {
        this.rotating = null;
      });
    return this.rotating;
  }

  private async rotateNow(): Promise<void> {
    const segments = await this.segments();
    const current = segments.at(-1);
    if (current === undefined || current.size <= segmentBytes) return;
    const copy = join(this.folder, 'copy');
    await copyFile(current.path, copy);
    await rename(copy, join(this.folder, segmentName(current.start)));
    await truncate(current.path, 0);
    const closed = segments.slice(0, -1);
    const surplus = closed.slice(0, Math.max(0, closed.length + 1 - keptSegments));
    for (const segment of surplus) await rm(segment.path, { force: true });
  }

  /** Oldest first; the last one is `current`. */
  private async segments(): Promise<Segment[]> {
    const names = (await readdir(this.folder)).filter((name) => /^\d{16}\.log$/.test(name)).sort();
    const segments: Segment[] = [];
    for (const name of names) {
      const path = join(this.folder, name);
      segments.push({ path, start: Number.parseInt(name, 10), size: (await stat(path)).size });
    }
    segments.push({ path: this.current, start: endOf(segments), size: (await stat(this.current)).size });
    return segments;
  }
}

const segmentName = (start: number): string => `${String(start).padStart(16, '0')}.log`;

function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.start + last.size : 0;
}

async function readPart(path: string, position: number, length: number): Promise<Buffer> {
  try {
    await using file = await open(path, 'r');
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
