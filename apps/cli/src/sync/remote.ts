/** The remote side of a sync: what lies there, and how one file is written or removed without losing another's change. */
import type { AgentFile, Lodge } from '@lodge/sdk';
import { uploadFile } from '@lodge/sdk/node';
import type { Run } from '../run.ts';
import { joined } from '../files/place.ts';
import { digestOf } from './digest.ts';

const maxFiles = 100_000;
/** Their output is far below the most that a command gives. */
const digestsAtOnce = 500;
/** Length of a SHA-256 in hex. */
const digestLength = 64;
/** No file has this etag. */
const noEtag = '"none"';

export class Remote {
  readonly #run: Run;
  readonly #lodge: Lodge;
  readonly #agentId: string;
  readonly #folder: string;
  /** The etag that each file had when it was last the same as here. */
  readonly #etags: Map<string, string>;
  /** Digests of what was sent for a file since it was last the same as here. */
  readonly #sent = new Map<string, Set<string>>();

  constructor(run: Run, lodge: Lodge, agentId: string, folder: string, etags: Map<string, string>) {
    this.#run = run;
    this.#lodge = lodge;
    this.#agentId = agentId;
    this.#folder = folder;
    this.#etags = etags;
  }

  /** Whether a file is as it was when it was last the same as here. */
  isKnown(path: string, { etag }: AgentFile): boolean {
    return this.#etags.get(path) === etag;
  }

  /** From now on a write or a removal counts on this file, or, without one, on there being none. */
  expect(path: string, file: AgentFile | undefined): void {
    if (file) this.#etags.set(path, file.etag);
    else this.#etags.delete(path);
  }

  /** A file that is another one than here: it is not written over. */
  distrust(path: string): void {
    this.#etags.set(path, noEtag);
  }

  /** Lists the files of the folder, by their paths relative to it. */
  async list(): Promise<Map<string, AgentFile>> {
    const found = new Map<string, AgentFile>();
    const prefix = this.#folder === '' ? '' : `${this.#folder}/`;
    try {
      for await (const file of this.#lodge.files.walk(this.#agentId, this.#folder, this.#run.call)) {
        if (file.type !== 'file' || !file.path.startsWith(prefix)) continue;
        found.set(file.path.slice(prefix.length), file);
        if (found.size > maxFiles) throw new Error(`The folder has more than ${maxFiles} files.`);
      }
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'file_not_found') throw error;
    }
    return found;
  }

  /** The SHA-256 of these files, as the agent's machine reckons them. One that it cannot read is missing. */
  async digests(paths: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    // Commands begin in the workspace. A name may begin with a dash.
    const prefix = `./${joined(this.#folder, '')}`;
    const start = digestLength + 2 + (prefix === './' ? prefix : `${prefix}/`).length;
    const plain = paths.filter((path) => !/[\n\0]/.test(path));
    for (let at = 0; at < plain.length; at += digestsAtOnce) {
      const asked = plain.slice(at, at + digestsAtOnce).map((path) => `./${joined(this.#folder, path)}\n`);
      const { stdout } = await this.#lodge.exec.run(
        this.#agentId,
        {
          argv: ['xargs', '-d', '\n', 'sha256sum', '--zero', '--'],
          stdin: asked.join(''),
          timeout_seconds: 600,
        },
        this.#run.call,
      );
      for (const line of stdout.split('\0'))
        if (line.length > start) found.set(line.slice(start), line.slice(0, digestLength));
    }
    return found;
  }

  /** Writes a file. Rejects with 412 where somebody else has changed it since it was seen, unless `isForced`. */
  async write(path: string, local: string, isForced: boolean): Promise<void> {
    const sent = this.#sent.get(path) ?? new Set();
    this.#sent.set(path, sent.add(await digestOf(local)));
    for (let isAgain = false; ; isAgain = true) {
      try {
        await this.#upload(path, local, isForced);
        this.#sent.delete(path);
        return;
      } catch (error) {
        const isChanged = (error as { readonly status?: unknown }).status === 412;
        if (isAgain || !isChanged || !(await this.#isOwn(path, sent))) throw error;
      }
    }
  }

  async #upload(path: string, local: string, isForced: boolean): Promise<void> {
    const etag = this.#etags.get(path);
    const condition = isForced ? {} : etag === undefined ? { isNew: true } : { ifMatch: etag };
    const file = await uploadFile(this.#lodge, this.#agentId, local, joined(this.#folder, path), {
      ...this.#run.call,
      ...condition,
    });
    this.#etags.set(path, file.etag);
  }

  /** Whether the change is a write of ours whose reply was lost. The next write counts on it then. */
  async #isOwn(path: string, sent: ReadonlySet<string>): Promise<boolean> {
    const content = await this.#lodge.files.read(this.#agentId, joined(this.#folder, path), this.#run.call);
    content.cancel();
    const digest = (await this.digests([path])).get(path);
    if (digest === undefined || !sent.has(digest)) return false;
    this.#etags.set(path, content.etag);
    return true;
  }

  /** Removes a file. One that is gone already is no failure. */
  async remove(path: string, isForced: boolean): Promise<void> {
    const etag = this.#etags.get(path);
    try {
      await this.#lodge.files.delete(this.#agentId, joined(this.#folder, path), {
        ...this.#run.call,
        ...(!isForced && { ifMatch: etag ?? noEtag }),
      });
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'file_not_found') throw error;
    }
    this.#etags.delete(path);
  }
}
