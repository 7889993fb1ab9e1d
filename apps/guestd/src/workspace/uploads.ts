/**
 * Files that come in parts. What has come lies where the agent cannot reach it, under the id of its upload, and takes its
 * place in the workspace by a rename, whole:
 *
 *   nothing ── append at 0 ── n bytes ── append at n … ── n bytes ── finish with size n ── a file of the workspace
 *
 * A part that is cut off leaves the bytes that came, so the next one goes on there; a daemon that was killed leaves them too.
 * A later call for an upload ends the earlier one first: whoever lost a connection need not wait until that is noticed. An
 * upload to which nothing has come for a day is removed, and so is one that fills the disk.
 */
import { constants, mkdirSync } from 'node:fs';
import { lstat, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { maxFileBytes, maxUploadBytes, type UploadState, type WriteResult } from '@lodge/guest';
import { chunksOf } from '../chunks.ts';
import { Refusal, systemCode } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { WorkspaceWriter } from './write.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const maxUploads = 32;
const keptMs = 24 * 3_600_000;
const sweepEveryMs = 3_600_000;
const digits = /^\d{1,15}$/;

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export class Uploads {
  private readonly folder: string;
  private readonly writer: WorkspaceWriter;
  /** The latest call for each upload. */
  private readonly running = new Map<string, Running>();

  constructor({ root }: Settings, writer: WorkspaceWriter) {
    this.writer = writer;
    this.folder = `${root}/var/lib/lodge/uploads`;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const sweep = (): void => void this.sweep().catch(() => undefined);
    sweep();
    setInterval(sweep, sweepEveryMs).unref();
  }

  /** How much of an upload is on the disk; none of one that nobody began. */
  async state(query: URLSearchParams): Promise<UploadState> {
    try {
      await using file = await open(this.pathOf(idOf(query)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      await file.datasync();
      return { size: await sizeOf(file) };
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return { size: 0 };
      throw error;
    }
  }

  append(query: URLSearchParams, request: IncomingMessage): Promise<UploadState> {
    const [id, offset] = [idOf(query), bytesOf(query, 'offset')];
    return this.alone(id, async (stop) => {
      const cut = (): void => void request.destroy();
      stop.addEventListener('abort', cut, { once: true });
      try {
        return await this.appendTo(id, offset, chunksOf(request));
      } finally {
        stop.removeEventListener('abort', cut);
      }
    });
  }

  finish(query: URLSearchParams): Promise<WriteResult> {
    const [id, size] = [idOf(query), bytesOf(query, 'size')];
    return this.alone(id, async () => {
      if (size === 0) await this.makeRoom(id);
      const path = this.pathOf(id);
      const flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | (size === 0 ? O_CREAT : 0);
      await using file = await open(path, flags, 0o600).catch((error: unknown) => {
        throw systemCode(error) === 'ENOENT' ? another(0) : error;
      });
      const there = await sizeOf(file);
      if (there !== size) throw another(there);
      return await this.writer.put(query, { file, temporary: path });
    });
  }

  remove(query: URLSearchParams): Promise<void> {
    const id = idOf(query);
    return this.alone(id, () => rm(this.pathOf(id), { force: true }));
  }

  private async appendTo(id: string, offset: number, body: AsyncIterable<Buffer>): Promise<UploadState> {
    if (offset === 0) await this.makeRoom(id);
    const path = this.pathOf(id);
    const flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (offset === 0 ? O_CREAT : 0);
    await using file = await open(path, flags, 0o600).catch((error: unknown) => {
      throw systemCode(error) === 'ENOENT' ? another(0) : error;
    });
    const size = await sizeOf(file);
    if (size !== offset) throw another(size);
    try {
      return { size: await fill(file, offset, body) };
    } catch (error) {
      // The agent has its disk back at once.
      if (['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')) await rm(path, { force: true });
      throw error;
    } finally {
      await file.datasync();
    }
  }

  /** Refuses a new upload where too many are unfinished. */
  private async makeRoom(id: string): Promise<void> {
    await this.sweep();
    const there = await readdir(this.folder);
    if (there.length >= maxUploads && !there.includes(id)) {
      throw new Refusal(503, `${maxUploads} uploads are unfinished: finish or remove one`);
    }
  }

  private async sweep(): Promise<void> {
    const names = await readdir(this.folder);
    for (const name of names) {
      if (this.running.has(name)) continue;
      const path = this.pathOf(name);
      const stat = await lstat(path).catch(() => null);
      if (stat !== null && Date.now() - stat.mtimeMs > keptMs) await rm(path, { recursive: true, force: true });
    }
  }

  private async alone<T>(id: string, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
    const before = this.running.get(id);
    const stop = new AbortController();
    const result = (async () => {
      before?.stop.abort();
      await before?.ended;
      if (stop.signal.aborted) throw new Refusal(409, 'a later call for the upload has come');
      return work(stop.signal);
    })();
    const mine: Running = { stop, ended: result.catch(() => undefined) };
    this.running.set(id, mine);
    try {
      return await result;
    } finally {
      if (this.running.get(id) === mine) this.running.delete(id);
    }
  }

  private readonly pathOf = (id: string): string => `${this.folder}/${id}`;
}

/** Appends a part and resolves with the new size. */
async function fill(file: FileHandle, offset: number, body: AsyncIterable<Buffer>): Promise<number> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxFileBytes) throw new Refusal(413, `a part may have at most ${maxFileBytes} bytes`);
    if (offset + length > maxUploadBytes) throw new Refusal(413, `a file may have at most ${maxUploadBytes} bytes`);
    await file.appendFile(chunk);
  }
  return offset + length;
}

async function sizeOf(file: FileHandle): Promise<number> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new Refusal(409, 'the upload is not a regular file');
  return stat.size;
}

function idOf(query: URLSearchParams): string {
  const id = query.get('id') ?? '';
  if (!/^[A-Za-z0-9_-]{16,64}$/.test(id)) throw new Refusal(400, 'id must be 16 to 64 letters, digits, _ and -');
  return id;
}

function bytesOf(query: URLSearchParams, name: string): number {
  const value = query.get(name) ?? '';
  if (!digits.test(value)) throw new Refusal(400, `${name} must be a whole number`);
  return Number(value);
}

const another = (size: number): Refusal => new Refusal(409, `the upload has ${size} bytes`);
