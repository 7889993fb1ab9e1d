/** A sync of a local folder into a workspace: first what differs, then each change as it comes. */
import type { AgentFile } from '@lodge/sdk';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { CommandError, exitCodes } from '../failure.ts';
import type { Run } from '../run.ts';
import { confirm } from '../terminal/prompt.ts';
import { safeLine } from '../terminal/safe.ts';
import { digestOf } from './digest.ts';
import type { Ignored } from './ignored.ts';
import { Queue } from './queue.ts';
import type { Outcome, Wish } from './queue.ts';
import type { Remote } from './remote.ts';

export interface SyncOptions {
  readonly isDeleting: boolean;
  readonly isForced: boolean;
}

interface LocalFile {
  readonly size: number;
}

/** Editors write a file in several steps. */
const settledMs = 100;
const maxFiles = 100_000;
const maxShown = 10;

export class Sync {
  readonly #run: Run;
  readonly #folder: string;
  readonly #remote: Remote;
  readonly #ignored: Ignored;
  readonly #options: SyncOptions;
  readonly #queue: Queue;
  #isStale = false;
  #whenIdle: () => void = () => undefined;
  conflicts = 0;

  constructor(run: Run, folder: string, remote: Remote, ignored: Ignored, options: SyncOptions) {
    this.#run = run;
    this.#folder = folder;
    this.#remote = remote;
    this.#ignored = ignored;
    this.#options = options;
    this.#queue = new Queue({
      signal: run.signal,
      carryOut: (path, wish) => this.#carryOut(path, wish),
      onIdle: () => this.#whenIdle(),
    });
  }

  async begin(): Promise<void> {
    const here = await this.#local();
    const there = await this.#remote.list();
    const gone = [...there].filter(([path]) => !here.has(path) && !this.#ignored(path, false));
    if (this.#options.isDeleting && gone.length > 0) await this.#askToDelete(gone.map(([path]) => path));
    const different = await this.#different(here, there);
    for (const path of here.keys()) {
      const file = there.get(path);
      if (different.has(path)) this.#write(path, file);
      else this.#remote.expect(path, file);
    }
    if (this.#options.isDeleting)
      for (const [path, file] of gone) {
        this.#remote.expect(path, file);
        this.#queue.add(path, 'remove');
      }
    await this.idle();
    this.#say('synced', `In sync: ${here.size} files.`);
  }

  /** Goes on until the command is interrupted. */
  async watch(): Promise<void> {
    const { watch } = await import('chokidar');
    const watcher = watch(this.#folder, {
      ignoreInitial: true,
      followSymlinks: false,
      awaitWriteFinish: { stabilityThreshold: settledMs, pollInterval: settledMs / 2 },
      ignored: (path, stats) => {
        const name = this.#name(path);
        return name !== '' && this.#ignored(name, stats?.isDirectory() ?? false);
      },
    });
    watcher.on('add', (path) => this.#queue.add(this.#name(path), 'write'));
    watcher.on('change', (path) => this.#queue.add(this.#name(path), 'write'));
    if (this.#options.isDeleting) watcher.on('unlink', (path) => this.#queue.add(this.#name(path), 'remove'));
    try {
      await new Promise<void>((resolve, reject) => {
        watcher.once('ready', () => this.#say('watching', 'Watching. Ctrl-C ends it.'));
        watcher.once('error', reject);
        this.#run.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } finally {
      await watcher.close();
    }
  }

  async idle(): Promise<void> {
    if (this.#queue.isIdle) return;
    await new Promise<void>((resolve, reject) => {
      this.#whenIdle = resolve;
      this.#run.signal.addEventListener('abort', () => reject(this.#run.signal.reason as Error), { once: true });
    });
  }

  /** Returns the files that are missing in the workspace, or have other contents there. */
  async #different(here: ReadonlyMap<string, LocalFile>, there: ReadonlyMap<string, AgentFile>): Promise<Set<string>> {
    const different = new Set<string>();
    const alike: string[] = [];
    for (const [path, { size }] of here) {
      if (there.get(path)?.size === size) alike.push(path);
      else different.add(path);
    }
    const digests = alike.length === 0 ? new Map<string, string>() : await this.#remote.digests(alike);
    for (const path of alike) if (digests.get(path) !== (await digestOf(join(this.#folder, path)))) different.add(path);
    return different;
  }

  #write(path: string, file: AgentFile | undefined): void {
    if (file !== undefined && !this.#remote.isKnown(path, file) && !this.#options.isForced) {
      this.#remote.distrust(path);
      return this.#conflict(path, 'it is another one in the workspace');
    }
    this.#remote.expect(path, file);
    this.#queue.add(path, 'write');
  }

  async #carryOut(path: string, wish: Wish): Promise<Outcome> {
    const { isForced } = this.#options;
    try {
      if (wish === 'remove') await this.#remote.remove(path, isForced);
      else {
        const isFile = await lstat(join(this.#folder, path)).then(
          (found) => found.isFile(),
          () => false,
        );
        if (!isFile) return 'done';
        await this.#remote.write(path, join(this.#folder, path), isForced);
      }
    } catch (error) {
      return this.#failed(path, error);
    }
    if (this.#isStale) this.#say('resumed', 'The server is there again.');
    this.#isStale = false;
    this.#say(
      wish === 'write' ? 'written' : 'removed',
      `${wish === 'write' ? 'wrote' : 'removed'} ${safeLine(path, 200)}`,
      path,
    );
    return 'done';
  }

  #failed(path: string, error: unknown): Outcome {
    if (this.#run.signal.aborted) return 'done';
    const { status, code, message } = error as { status?: unknown; code?: unknown; message?: unknown };
    if (status === 412) this.#conflict(path, 'somebody else has changed it in the workspace');
    else if (code === 'ENOENT') return 'done';
    else if (typeof status === 'number' && status < 500 && status !== 429 && code !== 'agent_transitioning')
      this.#conflict(path, String(message));
    else {
      if (!this.#isStale) this.#say('stale', `Not in sync: ${safeLine(String(message), 300)} Trying again.`);
      this.#isStale = true;
      return 'later';
    }
    return 'done';
  }

  #conflict(path: string, why: string): void {
    this.conflicts += 1;
    this.#say('conflict', `left ${safeLine(path, 200)}: ${safeLine(why, 300)}`, path);
  }

  #say(event: string, text: string, path?: string): void {
    if (this.#run.out.isJson) this.#run.out.item({ event, ...(path !== undefined && { path }), text }, () => '');
    else this.#run.out.note(text);
  }

  async #askToDelete(gone: readonly string[]): Promise<void> {
    if (this.#run.isYes) return;
    const named = gone.slice(0, maxShown).map((path) => safeLine(path, 100));
    const more = gone.length > maxShown ? ` and ${gone.length - maxShown} more` : '';
    await confirm(this.#run, `Delete from the workspace what is not here: ${named.join(', ')}${more}?`);
  }

  async #local(): Promise<Map<string, LocalFile>> {
    const found = new Map<string, LocalFile>();
    const left = [''];
    for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
      for (const entry of await readdir(join(this.#folder, folder), { withFileTypes: true })) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (this.#ignored(path, entry.isDirectory())) continue;
        if (entry.isDirectory()) left.push(path);
        if (!entry.isFile()) continue;
        found.set(path, await lstat(join(this.#folder, path)));
        if (found.size > maxFiles)
          throw new CommandError(
            exitCodes.usage,
            `The folder has more than ${maxFiles} files.`,
            'Name what to leave out in .lodgeignore.',
          );
      }
    }
    return found;
  }

  #name(path: string): string {
    return relative(this.#folder, path).split(sep).join('/');
  }
}
